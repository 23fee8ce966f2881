import { fromBase64, sameText, toBase64 } from "../ids.ts";
import type { Passwords } from "../ports.ts";

interface Cost {
  /** KiB. */
  memory: number;
  passes: number;
  lanes: number;
}

/** What passwords are hashed with. */
export interface Hashing {
  /** Argon2id (RFC 9106); answers the tag, of 32 bytes. */
  argon2id(text: string, salt: Uint8Array, cost: Cost): Promise<Uint8Array>;
  bcryptVerify(hash: string, text: string): Promise<boolean>;
}

/**
 * OWASP's password storage cheat sheet holds several choices for argon2id equally strong. This one takes the least memory,
 * whose pages the system has to clear for each call.
 */
const usualCost: Cost = { memory: 7168, passes: 5, lanes: 1 };

/** A hash of the same cost that no password has: with it an unknown account takes as long as a wrong password. */
const nobody = encode(usualCost, new Uint8Array(16), new Uint8Array(32));

/** Keyboards compose one character in different ways; each way must open the same account. */
const normalize = (password: string) => password.normalize("NFKC");

/** Whether two passwords open the same account. */
export const isSamePassword = (a: string, b: string): boolean => normalize(a) === normalize(b);

export function createPasswords({ argon2id, bcryptVerify }: Hashing): Passwords {
  const tagged = async (password: string, salt: Uint8Array, cost: Cost) =>
    encode(cost, salt, await argon2id(normalize(password), salt, cost));
  return {
    hash: (password) => tagged(password, crypto.getRandomValues(new Uint8Array(16)), usualCost),
    async verify(hash, password) {
      const stored = hash ?? nobody;
      const { salt, cost } = decode(stored);
      return sameText(await tagged(password, salt, cost), stored) && hash !== null;
    },
    verifyBcrypt: bcryptVerify,
  };
}

/** The hash as it is stored: a PHC string. */
function encode({ memory, passes, lanes }: Cost, salt: Uint8Array, tag: Uint8Array): string {
  const [textOfSalt, textOfTag] = [salt, tag].map((bytes) => toBase64(bytes).replaceAll("=", ""));
  return `$argon2id$v=19$m=${memory},t=${passes},p=${lanes}$${textOfSalt}$${textOfTag}`;
}

function decode(hash: string): { cost: Cost; salt: Uint8Array } {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$/.exec(hash)?.slice(1);
  const [memory, passes, lanes] = parts?.slice(0, 3).map(Number) ?? [];
  const salt = fromBase64(parts?.[3] ?? "");
  if (!memory || !passes || !lanes || !salt?.length) throw new Error("A stored hash of a password can't be read");
  return { cost: { memory, passes, lanes }, salt };
}
