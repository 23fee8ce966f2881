import { and, eq, gt, isNull } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { digest, newId, randomToken } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { oneTimeTokens } from "../../db/schema.ts";

interface Link {
  kind: "setup" | "reset";
  /** How long the link works, in milliseconds. */
  lifeMs: number;
  payload?: Record<string, unknown>;
}

/** Issues the token of a link that works once: 256 bits, stored as a digest. */
export async function issueToken({ clock }: Services, db: Db, { kind, lifeMs, payload }: Link): Promise<string> {
  const token = randomToken();
  const now = clock.now();
  await db.insert(oneTimeTokens).values({
    id: newId(),
    kind,
    digest: await digest(token),
    expiresAt: new Date(now + lifeMs),
    createdAt: new Date(now),
    ...(payload ? { payload } : {}),
  });
  return token;
}

/** Whether a token was neither used nor has expired. */
export const isUsable = ({ clock }: Services, kind: Link["kind"], tokenDigest: Uint8Array) =>
  and(
    eq(oneTimeTokens.digest, tokenDigest),
    eq(oneTimeTokens.kind, kind),
    isNull(oneTimeTokens.usedAt),
    gt(oneTimeTokens.expiresAt, new Date(clock.now())),
  );
