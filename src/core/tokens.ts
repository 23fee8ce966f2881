import { digest, randomToken } from "./ids.ts";

/** How our own credentials begin, so that a leaked one is recognised and no agent key can be mistaken for one. */
const prefixes = { session: "aes_", management: "aek_" } as const;

export type TokenKind = keyof typeof prefixes;

/** A fresh credential of 256 bits, and the digest that is all we store of it. */
export async function newToken(kind: TokenKind): Promise<{ token: string; digest: Uint8Array<ArrayBuffer> }> {
  const token = `${prefixes[kind]}${randomToken()}`;
  return { token, digest: await digest(token) };
}

/** Which of our credentials a text claims to be, or null. */
export function tokenKind(text: string): TokenKind | null {
  if (text.startsWith(prefixes.session)) return "session";
  return text.startsWith(prefixes.management) ? "management" : null;
}

/** How long a session lives after its last use: 30 days (decisions §2). */
export const sessionSeconds = 30 * 24 * 60 * 60;
