import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { apply } from "../../../src/cli/apply.ts";
import type { Flags } from "../../../src/cli/arguments.ts";
import { UsageError } from "../../../src/cli/arguments.ts";
import { explain } from "../../../src/cli/explain.ts";
import { pull } from "../../../src/cli/pull.ts";
import { type Harness, harness } from "../../harness.ts";

export interface World extends Harness {
  url: string;
  /** A management key of the organization `acme`. */
  key: string;
  /** The headers of an Owner. */
  owner: Record<string, string>;
  apply(path: string, flags?: Flags, environment?: Record<string, string>): Promise<Run>;
  pull(path: string, flags?: Flags): Promise<Run>;
  /** An Owner's GET of a path. */
  get(path: string): Promise<Record<string, unknown>>;
}

export interface Run {
  code: number;
  out: string;
  notes: string;
}

/** A server with a management key, and the commands that work on it. */
export async function world(options: Parameters<typeof harness>[0] = {}): Promise<World> {
  const server = await harness(options);
  const url = await server.listen();
  const owner = await server.as("owner");
  const made = await server.request(`/api/organizations/${server.organization.slug}/management-keys`, {
    method: "POST",
    headers: owner,
    json: { name: "CI" },
  });
  const { key } = (await made.json()) as { key: string };
  const environment = { AGENT_ENGINE_KEY: key };
  return {
    ...server,
    url,
    key,
    owner,
    apply: (path, flags = {}, more = {}) => run(apply, path, { url, ...flags }, { ...environment, ...more }),
    pull: (path, flags = {}) => run(pull, path, { url, ...flags }, environment),
    get: async (path) => (await (await server.request(path, { headers: owner })).json()) as Record<string, unknown>,
  };
}

/** Runs a command as the program does, without a terminal. */
export async function run(
  command: typeof apply,
  path: string,
  flags: Flags,
  environment: Record<string, string>,
  { terminal, answer = "" }: { terminal?: boolean; answer?: string } = {},
): Promise<Run> {
  const out: string[] = [];
  const notes: string[] = [];
  const input = Object.assign(Readable.from([answer]), terminal ? { isTTY: true } : {});
  const screen = (lines: string[]) =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          lines.push(chunk.toString());
          done();
        },
      }),
      terminal ? { isTTY: true } : {},
    );
  try {
    const code = await command(path, flags, environment, { input, output: screen(out), notes: screen(notes) });
    return { code, out: out.join(""), notes: notes.join("") };
  } catch (error) {
    notes.push(...explain(error).map((line) => `${line}\n`));
    return { code: error instanceof UsageError ? 2 : 1, out: out.join(""), notes: notes.join("") };
  }
}

export const read = (root: string, name: string) => readFileSync(join(root, name), "utf8");
