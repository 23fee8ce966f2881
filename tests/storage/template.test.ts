import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { template } from "../../scripts/make-template.ts";
import { folderAt, unpackTemplate } from "../../src/adapters/node/embedded/template.ts";
import { skipHere } from "../skip.ts";
import { temporaryDirectory } from "./setup.ts";

/** Every path below a directory, with the bytes of its file; null for a directory. */
const contents = (directory: string) =>
  new Map(
    readdirSync(directory, { recursive: true, encoding: "utf8" }).map((path) => {
      const full = join(directory, path);
      return [path, statSync(full).isDirectory() ? null : readFileSync(full, "base64")];
    }),
  );

test("a template leaves nothing of its 13 MB in memory", async () => {
  const [file, directory] = [await template(), temporaryDirectory()];
  const before = process.memoryUsage().arrayBuffers;
  unpackTemplate(file, folderAt(directory));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000);
});

test("a template is unpacked as tar would, for the owner of the directory only", async (context) => {
  const file = await template();
  const ours = join(temporaryDirectory(), "ours");
  mkdirSync(ours);
  unpackTemplate(file, folderAt(ours));
  const theirs = temporaryDirectory();
  const { status } = spawnSync("tar", ["-xzf", file, "-C", theirs]);
  if (status !== 0) return skipHere(context, "no tar on this machine");
  const unpacked = contents(ours);
  expect(unpacked.size).toBeGreaterThan(100);
  expect(unpacked).toEqual(contents(theirs));
  for (const path of unpacked.keys()) expect(statSync(join(ours, path)).mode & 0o077, path).toBe(0);
});
