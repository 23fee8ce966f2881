import { digest, randomToken } from "../ids.ts";

/** The prefixes of the engine's own credentials: a leaked one is recognized, and no agent key is taken for one. */
const prefixes = { session: "aes_", management: "aek_", personal: "aep_", impersonation: "aei_" } as const;

export type TokenKind = keyof typeof prefixes;
const kinds = Object.keys(prefixes) as TokenKind[];

/** A new credential of 256 bits, and its digest. Only the digest is stored. */
export async function newToken(kind: TokenKind): Promise<{ token: string; digest: Uint8Array<ArrayBuffer> }> {
  const token = `${prefixes[kind]}${randomToken()}`;
  return { token, digest: await digest(token) };
}

/** The kind of credential by its prefix, or null. */
export function tokenKind(text: string): TokenKind | null {
  return kinds.find((kind) => text.startsWith(prefixes[kind])) ?? null;
}

/** How long a session lives after its last use: 30 days (decisions §2). */
export const sessionSeconds = 30 * 24 * 60 * 60;
