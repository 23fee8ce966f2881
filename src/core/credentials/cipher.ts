import { EngineError } from "../errors.ts";
import { digest, toHex } from "../ids.ts";

/** The bytes that sealing adds to a value. */
export const addedBySealing = 28;

/** The stored form of a secret: the id of its key; and 12 bytes of IV, the ciphertext, and 16 bytes of tag. */
export interface Sealed {
  keyId: string;
  ciphertext: Uint8Array;
}

export interface Cipher {
  /** The id of the key that `seal` uses; `open` also uses older keys. */
  readonly keyId: string;
  /** Seals `plaintext` for the row that `aad` identifies: `open` refuses the same bytes in another row. */
  seal(plaintext: string, aad: string): Promise<Sealed>;
  /** Rejects with an `EngineError` when no key opens the secret. */
  open(sealed: Sealed, aad: string): Promise<string>;
  /** The HMACs of a value under each key, that of the current key first. A row is found by the HMAC of its secret. */
  fingerprints(value: string): Promise<Uint8Array[]>;
  /** The HMACs that prove that the engine wrote a text, that of the current key first. They are never stored. */
  signatures(text: string): Promise<Uint8Array[]>;
}

interface Key {
  id: string;
  aes: CryptoKey;
  fingerprint: CryptoKey;
  signature: CryptoKey;
}

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** Derives a key for HMACs of one purpose. It reveals neither the other keys nor the encryption key. */
function deriveHmac(base: CryptoKey, purpose: "fingerprint" | "signature"): Promise<CryptoKey> {
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: utf8.encode(purpose) },
    base,
    { name: "HMAC", hash: "SHA-256", length: 256 },
    false,
    ["sign"],
  );
}

async function importKey(raw: Uint8Array<ArrayBuffer>): Promise<Key> {
  const id = toHex(await digest(`agent-engine:${toHex(raw)}`)).slice(0, 16);
  const aes = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt", "decrypt"]);
  const base = await crypto.subtle.importKey("raw", raw, "HKDF", false, ["deriveKey"]);
  const [fingerprint, signature] = await Promise.all([deriveHmac(base, "fingerprint"), deriveHmac(base, "signature")]);
  return { id, aes, fingerprint, signature };
}

/** AES-256-GCM over the given 32-byte keys: the first one seals, all of them open. */
export async function createCipher(keys: readonly Uint8Array<ArrayBuffer>[]): Promise<Cipher> {
  const ring = await Promise.all(keys.map(importKey));
  const current = ring[0];
  if (!current) throw new Error("createCipher needs at least one key");
  const hmacs = (value: string, purpose: "fingerprint" | "signature") =>
    Promise.all(
      ring.map(async (key) => new Uint8Array(await crypto.subtle.sign("HMAC", key[purpose], utf8.encode(value)))),
    );

  return {
    keyId: current.id,
    async seal(plaintext, aad) {
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const algorithm = { name: "AES-GCM", iv, additionalData: utf8.encode(aad) };
      const body = new Uint8Array(await crypto.subtle.encrypt(algorithm, current.aes, utf8.encode(plaintext)));
      const ciphertext = new Uint8Array(12 + body.length);
      ciphertext.set(iv);
      ciphertext.set(body, 12);
      return { keyId: current.id, ciphertext };
    },
    async open({ keyId, ciphertext }, aad) {
      const key = ring.find((candidate) => candidate.id === keyId);
      if (!key) throw new EngineError("internal", `No configured encryption key has the id ${keyId}`);
      const bytes = new Uint8Array(ciphertext);
      const algorithm = { name: "AES-GCM", iv: bytes.subarray(0, 12), additionalData: utf8.encode(aad) };
      try {
        return text.decode(await crypto.subtle.decrypt(algorithm, key.aes, bytes.subarray(12)));
      } catch (cause) {
        throw new EngineError("internal", "A stored secret does not open with its key", { cause });
      }
    },
    fingerprints: (value) => hmacs(value, "fingerprint"),
    signatures: (signed) => hmacs(signed, "signature"),
  };
}
