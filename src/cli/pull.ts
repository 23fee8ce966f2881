import { mkdir, readdir, realpath } from "node:fs/promises";
import type { Environment } from "../core/config.ts";
import { type Flags, UsageError } from "./arguments.ts";
import { printable } from "./chat/show.ts";
import type { Streams } from "./chat.ts";
import { type FileSet, readSet } from "./files/read-set.ts";
import { gather, type PulledFiles } from "./pull/gather.ts";
import { contentOf, type FileToWrite, isEqual, writeWhole } from "./pull/write.ts";
import { openTarget } from "./target/open.ts";
import { readTarget } from "./target/options.ts";
import { orRefused } from "./target/refused.ts";

/**
 * Writes the agents and skills of an organization into a directory, in which `apply` then finds no differences. Returns
 * the exit code: 0 written, 1 failed or refused. Rejects with a `UsageError` for a wrong command line.
 */
export async function pull(path: string, flags: Flags, environment: Environment, streams: Streams): Promise<number> {
  const options = readTarget(flags, environment);
  const { output, notes } = streams;
  const json = flags.json === true;
  const say = (line: string) => void output.write(`${line}\n`);
  const note = (line: string) => void notes.write(`${printable(line)}\n`);
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw new UsageError(
      `${path} can't be a directory${error instanceof Error && "code" in error ? ` (${error.code})` : ""}`,
    );
  });
  const root = await realpath(path);
  const { set, problems } = await readEarlier(root, environment);
  if (problems.length > 0) {
    for (const { place, message } of problems) note(`${place}: ${message}`);
    note("Nothing was written: the directory holds files that can't be read.");
    if (json) say(JSON.stringify({ ok: false, problems }));
    return 1;
  }
  const target = await orRefused(openTarget(options, "pull", { environment, note }), { json, say });
  let gathered: PulledFiles;
  try {
    gathered = await orRefused(gather(target, set, options.workspace), { json, say });
  } finally {
    await target.close();
  }
  const { due, refused } = await sort(root, set, gathered, flags.force === true);
  for (const reason of refused) note(reason);
  if (refused.length > 0) {
    note("Nothing was written.");
    if (json) say(JSON.stringify({ ok: false, refused }));
    return 1;
  }
  for (const file of due) await writeWhole(root, file);
  const written = due.map(({ name }) => name);
  if (json) say(JSON.stringify({ ok: true, written, same: gathered.same }));
  else {
    for (const name of written) output.write(`${printable(name)}\n`);
    output.write(`${written.length} written, ${gathered.same.length} already as on the server.\n`);
  }
  return 0;
}

/** The agents and skills in the directory's files; none when it is empty or has only other files. */
async function readEarlier(root: string, environment: Environment): ReturnType<typeof readSet> {
  const names = await readdir(root);
  const set: FileSet = { agents: [], skills: [], wholeDirectory: true };
  if (!names.some((name) => name === "agents" || name === "skills")) return { set, problems: [] };
  const read = await readSet(root, environment);
  // Empty folders are no problem here.
  const isEmpty =
    read.set.agents.length + read.set.skills.length === 0 && read.problems.every(({ place }) => place === root);
  return isEmpty ? { set, problems: [] } : read;
}

/** The files to write, and for others the reasons not to. */
async function sort(root: string, set: FileSet, { things, schemas }: PulledFiles, force: boolean) {
  const due: FileToWrite[] = [];
  const refused: string[] = [];
  for (const { noun, slug, files, earlier } of things) {
    const [main] = files;
    const place = earlier?.place.replace(/:\d+:\d+$/, "");
    if (place !== undefined && place !== main?.name) {
      refused.push(
        `${earlier?.place}: the ${noun} ${slug} differs from the server's; remove it there, and it is written to ${main?.name}`,
      );
      continue;
    }
    if (main && holdsOthers(set, main.name)) {
      refused.push(
        `${main.name} holds other things beside the ${noun} ${slug}, which differs from the server's: split it`,
      );
      continue;
    }
    for (const file of files) {
      const content = await contentOf(root, file.name);
      if (content !== null && isEqual(content, file.content)) continue;
      if (content === null || force) due.push(file);
      else refused.push(`${file.name} says something else than the server; --force replaces it`);
    }
  }
  for (const file of schemas) {
    const content = await contentOf(root, file.name);
    // The schemas belong to the release, so they may be replaced: nobody edits them.
    if (content === null || !isEqual(content, file.content)) due.push(file);
  }
  return { due, refused };
}

/** Whether a file also contains other agents and skills, which would be lost if it were replaced. */
function holdsOthers({ agents, skills }: FileSet, name: string): boolean {
  return [...agents, ...skills].filter(({ place }) => place.replace(/:\d+:\d+$/, "") === name).length > 1;
}
