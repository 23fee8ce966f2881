import { createCipheriv, pbkdf2Sync } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type BrowserContext, chromium } from "playwright-core";
import { onTestFinished } from "vitest";
import { wholeBrowser } from "./chromium.ts";

interface SignIn {
  /** The origin for which it was saved, such as `http://127.0.0.1:4000`. */
  origin: string;
  email: string;
  password: string;
}

/** A browser whose password manager has a saved sign-in. It resolves no other name, so it connects nowhere else. */
export async function browserWithSignIn(profile: string, signIn: SignIn): Promise<BrowserContext> {
  const start = async () => {
    const context = await chromium.launchPersistentContext(profile, {
      timeout: 90_000,
      executablePath: wholeBrowser ?? "",
      // Playwright uses the old headless mode by default, which has no password manager.
      headless: false,
      args: [
        ...["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
        ...["--password-store=basic", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"],
      ],
      ignoreDefaultArgs: ["--enable-automation", "--headless"],
    });
    onTestFinished(() => context.close());
    return context;
  };
  // The first start makes the password manager's tables.
  await (await start()).close();
  save(join(profile, "Default", "Login Data"), signIn);
  return start();
}

/** Writes the sign-in as Chromium's OSCrypt does without a keyring. */
function save(file: string, { origin, email, password }: SignIn): void {
  const key = pbkdf2Sync("peanuts", "saltysalt", 1, 16, "sha1");
  const cipher = createCipheriv("aes-128-cbc", key, Buffer.alloc(16, " "));
  const sealed = Buffer.concat([Buffer.from("v10"), cipher.update(password), cipher.final()]);
  const address = `${origin}/`;
  const known: Record<string, string | number | Uint8Array> = {
    origin_url: address,
    action_url: address,
    signon_realm: address,
    username_value: email,
    password_value: sealed,
    times_used: 3,
  };
  const database = new DatabaseSync(file);
  const columns = database.prepare("pragma table_info(logins)").all();
  const row = columns.flatMap(({ name, type, notnull }) => {
    const value = known[String(name)] ?? (notnull === 1 && name !== "id" ? blankOf(String(type)) : undefined);
    return value === undefined ? [] : [[String(name), value] as const];
  });
  const marks = row.map(() => "?").join(", ");
  database
    .prepare(`insert into logins (${row.map(([name]) => name).join(", ")}) values (${marks})`)
    .run(...row.map(([, value]) => value));
  database.close();
}

const blankOf = (type: string) => (/INT/i.test(type) ? 0 : /BLOB/i.test(type) ? new Uint8Array() : "");
