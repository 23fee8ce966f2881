import { publicAddress, type Services } from "../../context.ts";
import type { Cipher } from "../../core/cipher.ts";
import { sameText, toHex } from "../../core/ids.ts";
import { type Claim, disposition, linkAddress, linkSeconds } from "./rules.ts";
import { type FileRow, openStored } from "./storage.ts";

/** An address at which whoever has it reads a file until it expires. */
export interface Link {
  url: string;
  /** ISO 8601. */
  expiresAt: string;
}

/**
 * A link to a stored file, valid for 24 hours: to the bucket that holds it, else to this server. Throws 409 when the
 * keys to its storage are gone.
 */
export async function linkTo(services: Services, file: FileRow): Promise<Link> {
  const { objects, key } = await openStored(services, file);
  const expires = Math.floor(services.clock.now() / 1000) + linkSeconds;
  const expiresAt = new Date(expires * 1000).toISOString();
  if (objects.link) {
    const { mime, name } = file;
    return {
      url: await objects.link(key, { seconds: linkSeconds, mime, disposition: disposition(mime, name) }),
      expiresAt,
    };
  }
  const [signature = ""] = await signaturesOf(services.cipher, { id: file.id, expires });
  return { url: publicAddress(services) + linkAddress({ id: file.id, expires, signature }), expiresAt };
}

/** Whether the link was made here, with this key or an earlier one, and has not expired. */
export async function isGenuine(
  { cipher, clock }: Pick<Services, "cipher" | "clock">,
  { signature, ...claim }: Claim,
): Promise<boolean> {
  if (claim.expires * 1000 <= clock.now()) return false;
  const made = await signaturesOf(cipher, claim);
  return made.map((one) => sameText(signature, one)).includes(true);
}

/** The signatures of a link, the current key's first. */
async function signaturesOf(cipher: Cipher, { id, expires }: Omit<Claim, "signature">): Promise<string[]> {
  return (await cipher.signatures(`file ${id} ${expires}`)).map(toHex);
}
