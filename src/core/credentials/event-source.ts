import { digest, randomToken, toHex } from "../ids.ts";
import type { Cipher, Sealed } from "./cipher.ts";

/** The credentials that a source stores sealed. */
export interface Credentials {
  webhookToken: string;
  /** The key with which the sender authenticates; absent when the secret address is enough. */
  authKey?: string | undefined;
}

/** The columns derived from a source's credentials. */
export interface SealedCredentials {
  tokenDigest: string;
  keyId: string;
  credentials: Uint8Array;
  hasAuthKey: boolean;
}

const tokenBytes = 32;
const tokenPattern = /^[\w-]{43}$/;

/** A new token, the secret part of a webhook's address: 256 bits as base64url. */
export const newWebhookToken = () => randomToken(tokenBytes);

/** Whether a text has the form of a webhook token, checked before the database is read. */
export const isWebhookToken = (text: string) => tokenPattern.test(text);

/** The digest by which a source is found. */
export const digestOf = async (webhookToken: string) => toHex(await digest(webhookToken));

const place = (sourceId: string) => `${sourceId}:event-source`;

export async function sealCredentials(
  cipher: Cipher,
  sourceId: string,
  credentials: Credentials,
): Promise<SealedCredentials> {
  const { keyId, ciphertext } = await cipher.seal(JSON.stringify(credentials), place(sourceId));
  const tokenDigest = await digestOf(credentials.webhookToken);
  return { tokenDigest, keyId, credentials: ciphertext, hasAuthKey: credentials.authKey !== undefined };
}

/** The row's columns that `openCredentials` reads. */
export interface SealedSource extends Pick<SealedCredentials, "keyId" | "credentials"> {
  id: string;
}

export async function openCredentials(cipher: Cipher, source: SealedSource): Promise<Credentials> {
  const sealed: Sealed = { keyId: source.keyId, ciphertext: source.credentials };
  return JSON.parse(await cipher.open(sealed, place(source.id))) as Credentials;
}
