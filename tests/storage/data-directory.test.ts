import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { closeToOthers, prepareDirectory } from "../../src/adapters/node/data/data-directory.ts";
import { lockDirectory } from "../../src/adapters/node/data/directory-lock.ts";
import { openUnchanged } from "../../src/adapters/node/unchanged.ts";
import { StartError } from "../../src/core/errors.ts";
import { collectLog, silent } from "../embedded.ts";
import { open, settingsOf, temporaryDirectory } from "./setup.ts";

// Windows keeps no such modes.
const unix = test.skipIf(process.platform === "win32");
const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);

/** A directory with a key, both with these modes, as a hand or a backup may have made them. */
function directoryOf(directoryMode: number, keyMode: number) {
  const directory = join(temporaryDirectory(), "data");
  const key = join(directory, "encryption.key");
  mkdirSync(directory);
  writeFileSync(key, "key");
  chmodSync(key, keyMode);
  chmodSync(directory, directoryMode);
  return { directory, key };
}

unix("a directory and a key that are open to others are closed, and the log says so once", () => {
  const { directory, key } = directoryOf(0o755, 0o644);
  const { log, lines } = collectLog();
  prepareDirectory(directory);
  closeToOthers(directory, log);
  expect([mode(directory), mode(key)]).toEqual(["700", "600"]);
  expect(lines).toEqual([
    `Others on this machine could read ${directory}: its mode was 0755 and is now 0700`,
    `Others on this machine could read ${key}: its mode was 0644 and is now 0600`,
  ]);
  closeToOthers(directory, log);
  expect(lines).toHaveLength(2);
});

test.skipIf(process.platform !== "linux")("a directory below /proc can't be made, and that is said at once", () => {
  expect(() => prepareDirectory("/proc/agent-engine/data")).toThrow(
    "DATA_DIR can't be used, /proc/agent-engine/data can't be made there: set DATA_DIR to a directory that can be written to",
  );
});

unix("what is the owner's alone stays as it is, without a word", () => {
  const { directory, key } = directoryOf(0o700, 0o400);
  const { log, lines } = collectLog();
  closeToOthers(directory, log);
  expect([mode(directory), mode(key), lines]).toEqual(["700", "400", []]);
});

unix("what is another user's, or shared by its mode, stays as it is, with a warning", () => {
  const { log, lines } = collectLog();
  const shared = directoryOf(0o1777, 0o600).directory;
  closeToOthers(shared, log);
  expect(mode(shared)).toBe("1777");

  const { directory } = directoryOf(0o750, 0o600);
  const spy = vi.spyOn(process, "getuid").mockReturnValue(54_321);
  onTestFinished(() => spy.mockRestore());
  closeToOthers(directory, log);
  expect(mode(directory)).toBe("750");
  expect(lines).toEqual([
    `Others on this machine can read ${shared}, whose mode is 1777: run chmod go= ${shared} as its owner`,
    `Others on this machine can read ${directory}, whose mode is 0750: run chmod go= ${directory} as its owner`,
  ]);
});

unix("the lock is its owner's alone, whatever the process makes its files for", async () => {
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const directory = temporaryDirectory();
  const free = await lockDirectory(directory);
  onTestFinished(free);
  expect(mode(join(directory, "lock"))).toBe("600");
  await expect(lockDirectory(directory)).rejects.toThrow("is in use by another agent-engine");
  // The refused one must not have freed it.
  await expect(lockDirectory(directory)).rejects.toThrow("is in use by another agent-engine");
});

unix("a command of root leaves another user's database alone, which that user could not open any more", async () => {
  const DATA_DIR = temporaryDirectory();
  const data = join(DATA_DIR, "pgdata");
  const made = join(data, "PG_VERSION");
  mkdirSync(data);
  writeFileSync(made, "18\n");
  const uid = process.getuid?.() || 65_534;
  if (process.getuid?.() === 0) chownSync(made, uid, uid);
  const spy = vi.spyOn(process, "geteuid").mockReturnValue(0);
  onTestFinished(() => spy.mockRestore());

  const refused = new StartError(
    `The database in DATA_DIR ${DATA_DIR} is that of user ${uid}, whose server can't read what root writes: run this as that user, as with sudo -u '#${uid}'`,
  );
  await expect(open({ DATA_DIR })).rejects.toEqual(refused);
  await expect(openUnchanged(settingsOf({ DATA_DIR }), { clock: systemClock, log: silent })).rejects.toEqual(refused);
  expect(readdirSync(DATA_DIR)).toEqual(["pgdata"]);
});
