import {
  existsSync,
  mkdtempSync,
  promises,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { directoryStore } from "../../src/adapters/node/data/directory-store.ts";
import { StorageRefusal } from "../../src/core/errors.ts";
import type { StoredObject } from "../../src/core/ports.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = async (found: StoredObject | null) => (found === null ? null : new Response(found.bytes).text());

function withDirectory() {
  const parent = mkdtempSync(join(tmpdir(), "agent-engine-files-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const directory = join(parent, "files");
  return { parent, directory, store: directoryStore(directory) };
}

/** Lets the store call the spies on `node:fs/promises` until the test ends. */
function useSpies() {
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
}

test("stores, gives back and deletes, for its owner only", async () => {
  const { directory, store } = withDirectory();
  expect(await store.get("one")).toBeNull();
  await store.delete("one");
  expect(existsSync(directory)).toBe(false);
  await store.put("one", bytes("tea"), "text/plain");
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory, "one")).mode & 0o777).toBe(0o600);
  expect(await store.get("one")).toMatchObject({ size: 3 });
  expect(await textOf(await store.get("one"))).toBe("tea");
  await store.delete("one");
  expect(readdirSync(directory)).toEqual([]);
  expect(await store.get("one")).toBeNull();
});

test("moves a file to its path only when it is complete", async () => {
  const { directory, store } = withDirectory();
  await store.put("one", bytes("old"), "text/plain");
  await Promise.all([store.put("one", bytes("new"), "text/plain"), store.put("one", bytes("new"), "text/plain")]);
  expect(readdirSync(directory)).toEqual(["one"]);
  expect(readFileSync(join(directory, "one"), "utf8")).toBe("new");
  // The file left by a killed process.
  writeFileSync(join(directory, "two.1234.part"), "ha");
  expect(await store.get("two")).toBeNull();
  await directoryStore(directory).put("three", bytes("x"), "text/plain");
  expect(readdirSync(directory).sort()).toEqual(["one", "three"]);
});

test.each([
  "../secret",
  "..",
  ".",
  "",
  "a/b",
  "a\\b",
  "/etc/passwd",
  "a\0b",
  "one.part",
  "-x",
  "é",
  "a".repeat(129),
])("touches nothing under the key %j", async (key) => {
  const { parent, store } = withDirectory();
  writeFileSync(join(parent, "secret"), "kept");
  for (const attempt of [() => store.get(key), () => store.put(key, bytes("x"), ""), () => store.delete(key)]) {
    await expect(attempt()).rejects.toThrow("No key of a stored file");
  }
  expect(readdirSync(parent)).toEqual(["secret"]);
});

test("leaves space on the disk to the database", async () => {
  const { directory } = withDirectory();
  const { bavail, bsize } = statfsSync(tmpdir());
  const most = directoryStore(directory, { spareBytes: 2 * bavail * bsize });
  const put = most.put("one", bytes("tea"), "text/plain");
  await expect(put).rejects.toMatchObject({
    status: 409,
    message: "The disk of this machine has no space left for files: free some, or give the agent a bucket in S3",
  });
  await expect(put).rejects.toBeInstanceOf(StorageRefusal);
  expect(readdirSync(directory)).toEqual([]);
  await directoryStore(directory, { spareBytes: 0 }).put("one", bytes("tea"), "text/plain");
  expect(readdirSync(directory)).toEqual(["one"]);
});

test("leaves that space also where files are written at the same time", async () => {
  const { directory } = withDirectory();
  vi.spyOn(promises, "statfs").mockResolvedValue({ blocks: 1, bavail: 100, bsize: 1 } as never);
  useSpies();
  const store = directoryStore(directory, { spareBytes: 90 });
  const puts = ["1", "2"].map((key) => store.put(key, bytes("coffee"), "text/plain"));
  const fates = await Promise.allSettled(puts);
  expect(fates.map(({ status }) => status)).toContain("rejected");
  await store.put("3", bytes("coffee"), "text/plain");
});

test("closes a file when the disk does not report its free space, and says why", async () => {
  const { store } = withDirectory();
  await store.put("one", bytes("tea"), "text/plain");
  const { open } = promises;
  const opened: promises.FileHandle[] = [];
  vi.spyOn(promises, "open").mockImplementation(async (...given) => {
    const file = await open(...given);
    opened.push(file);
    return Object.assign(file, { stat: () => Promise.reject(Object.assign(new Error(), { code: "EIO" })) });
  });
  useSpies();
  await expect(store.get("one")).rejects.toMatchObject({
    status: 502,
    message: "The file storage of this machine failed with EIO",
  });
  expect(opened.map(({ fd }) => fd)).toEqual([-1]);
});

test("says what is wrong with the directory, and tries it again", async () => {
  const { directory, store } = withDirectory();
  writeFileSync(directory, "a file in its place");
  await expect(store.put("one", bytes("x"), "")).rejects.toMatchObject({
    status: 502,
    message: "The file storage of this machine failed with EEXIST",
  });
  rmSync(directory);
  await store.put("one", bytes("x"), "");
  expect(readdirSync(directory)).toEqual(["one"]);
});
