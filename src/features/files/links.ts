import { publicAddress, type Services } from "../../context/ctx.ts";
import type { Cipher } from "../../core/credentials/cipher.ts";
import { sameText, toHex } from "../../core/ids.ts";
import { type Claim, linkAddress, linkSeconds } from "./rules.ts";
import { type FileRow, openStored } from "./storage.ts";

/** An address from which anyone can read a file until it expires. */
export interface Link {
  url: string;
  /** ISO 8601. */
  expiresAt: string;
}

/**
 * Makes a link to a stored file, valid for 24 hours. It leads to this server even for a file in a bucket: a link to the
 * bucket would contain the agent's access key, and outlive the conversation. Throws 409 when the keys to the storage
 * are missing.
 */
export async function linkTo(services: Services, file: FileRow): Promise<Link> {
  await openStored(services, file);
  const expires = Math.floor(services.clock.now() / 1000) + linkSeconds;
  const claim = { id: file.id, expires };
  const [signature = ""] = await signaturesOf(services.cipher, claim);
  const url = publicAddress(services) + linkAddress({ ...claim, signature });
  return { url, expiresAt: new Date(expires * 1000).toISOString() };
}

/** Whether this installation made the link, with its current or an earlier key, and the link has not expired. */
export async function isGenuine(
  { cipher, clock }: Pick<Services, "cipher" | "clock">,
  { signature, ...claim }: Claim,
): Promise<boolean> {
  if (claim.expires * 1000 <= clock.now()) return false;
  const made = await signaturesOf(cipher, claim);
  return made.map((one) => sameText(signature, one)).includes(true);
}

/** The signatures that a link may have, that of the current key first. */
async function signaturesOf(cipher: Cipher, { id, expires }: Omit<Claim, "signature">): Promise<string[]> {
  return (await cipher.signatures(`file ${id} ${expires}`)).map(toHex);
}
