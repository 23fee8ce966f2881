import { argon2id, argon2Verify } from "hash-wasm";
import { describe, expect, test } from "vitest";
import { nativeArgon2id } from "../../src/adapters/node/password/native.ts";
import { createPasswords, type Hashing } from "../../src/core/credentials/password.ts";
import { wasmHashing } from "../../src/core/credentials/wasm-hashing.ts";
import { toHex } from "../../src/core/ids.ts";

const native = nativeArgon2id();
if (!native) throw new Error("This Node has no Argon2 of its own");
const salt = new TextEncoder().encode("somesalt");

describe.each<[string, Hashing]>([
  ["Node", { ...wasmHashing, argon2id: native }],
  ["WebAssembly", wasmHashing],
])("with the Argon2 of %s", (_, hashing) => {
  const passwords = createPasswords(hashing);

  // From the tests of the reference implementation, phc-winner-argon2.
  test.each([
    ["password", 65_536, 2, 1, "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"],
    ["password", 256, 2, 2, "6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037"],
    ["differentpassword", 65_536, 2, 1, "0b84d652cf6b0c4beaef0dfe278ba6a80df6696281d7e0d2891b817d8c458fde"],
  ])("%s has the tag of the reference, %i KiB, %i passes, %i lanes", async (text, memory, passes, lanes, tag) => {
    expect(toHex(await hashing.argon2id(text, salt, { memory, passes, lanes }))).toBe(tag);
  });

  test("a hash is one that another library reads, and the other way round, whatever it cost", async () => {
    const hash = await passwords.hash("caf\u00e9 \u{1f511}");
    expect(await argon2Verify({ hash, password: "caf\u00e9 \u{1f511}" })).toBe(true);
    const earlier = await argon2id({
      password: "tea",
      salt: crypto.getRandomValues(new Uint8Array(16)),
      memorySize: 19_456,
      iterations: 2,
      parallelism: 1,
      hashLength: 32,
      outputType: "encoded",
    });
    expect(await passwords.verify(earlier, "tea")).toBe(true);
    expect(await passwords.verify(earlier, "Tea")).toBe(false);
  });

  test.each([
    "",
    "tea",
    "$argon2id$v=19$m=0,t=5,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA",
    "$argon2id$v=16$m=7168,t=5,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA",
    "$argon2id$v=19$m=7168,t=5,p=1$_$AAAA",
    "$argon2id$v=19$m=7168,t=5,p=1$AAAAAAAAAAAAAAAAAAAAAA",
  ])("%j is no hash", async (hash) => {
    await expect(passwords.verify(hash, "tea")).rejects.toThrow();
  });
});
