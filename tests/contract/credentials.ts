import { eq } from "drizzle-orm";
import { digest, randomToken } from "../../src/core/ids.ts";
import { accessTokens } from "../../src/db/schema.ts";
import { bearer, cookie, type Headers } from "./call.ts";
import type { Person, World } from "./world.ts";

/** Invalid credentials, some of which look valid or once were. */
export async function worthless(world: World, person: Person): Promise<Record<string, Headers>> {
  const { acme, db, h, key, session } = world;
  const lapsed = await session(person);
  const past = { expiresAt: new Date(h.clock.now() - 1) };
  await db
    .update(accessTokens)
    .set(past)
    .where(eq(accessTokens.digest, await digest(lapsed)));
  const ended = await session(person);
  await h.request("/api/auth/sign-out", { method: "POST", headers: bearer(ended) });
  const expiredKey = await key(acme, { expired: true });
  const { token } = await key(acme);
  return {
    nothing: {},
    garbage: bearer("garbage"),
    "an unknown session": bearer(`aes_${randomToken()}`),
    "an unknown management key": bearer(`aek_${randomToken()}`),
    "an expired session": bearer(lapsed),
    "an ended session": bearer(ended),
    "an expired management key": bearer(expiredKey.token),
    "a management key as cookie": { ...cookie(token), Origin: "http://localhost" },
    "an unknown cookie": { ...cookie("garbage"), Origin: "http://localhost" },
    "an expired cookie": { ...cookie(lapsed), Origin: "http://localhost" },
  };
}
