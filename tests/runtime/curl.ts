import { execFileSync, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { follow } from "./program.ts";

/** A call of `curl` that a script made. */
export interface Call {
  status: number;
  /** Method and address. */
  asked: string;
  answer: string;
}

interface Place {
  directory: string;
  origin: string;
  /** How the server is asked; absent: over the network. */
  fetch?: (address: string, init: RequestInit) => Promise<Response>;
}

/**
 * Runs a shell script in a directory, and answers its calls of `curl`, which reach only `origin`. The script passes
 * each call's arguments through a pipe and prints the answer, which saves a process for each.
 */
export async function runScript(script: string, { directory, origin, fetch = globalThis.fetch }: Place) {
  const [asks, answers] = [join(directory, "asks"), join(directory, "answers")];
  execFileSync("mkfifo", [asks, answers]);
  const curl = `curl() { printf '%s\\0' "$@" > '${asks}'; cat '${answers}'; }`;
  const shell = follow(spawn("sh", ["-eu"], { cwd: directory, env: { PATH: process.env.PATH ?? "" }, stdio: "pipe" }));
  shell.child.stdin?.end(`${curl}\n${script}`);

  const calls: Call[] = [];
  const serving = (async () => {
    for (;;) {
      const words = await readFile(asks, "utf8");
      if (words === "") return;
      const call = await makeCall(words.split("\0").slice(0, -1), { directory, origin, fetch });
      calls.push(call);
      await writeFile(answers, call.answer);
    }
  })();
  const status = await shell.ended;
  await writeFile(asks, "");
  await serving;
  return { status, stderr: shell.stderr(), calls };
}

async function makeCall(words: string[], { directory, origin, fetch }: Required<Place>): Promise<Call> {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      header: { type: "string", short: "H", multiple: true, default: [] },
      request: { type: "string", short: "X" },
      data: { type: "string", short: "d" },
      silent: { type: "boolean", short: "s" },
      "no-buffer": { type: "boolean", short: "N" },
    },
  });
  const [address = "", ...others] = positionals;
  const { request, data, header } = values;
  const method = request ?? (data === undefined ? "GET" : "POST");
  const asked = `${method} ${address}`;
  if (others.length > 0 || new URL(address).origin !== origin) {
    return { status: 0, asked, answer: `Not a call of the server: ${positionals.join(" ")}` };
  }
  const headers = header.map((line) => line.split(": ", 2) as [string, string]);
  const init = { method, headers, signal: AbortSignal.timeout(60_000) };
  const body = data?.startsWith("@") ? await readFile(join(directory, data.slice(1)), "utf8") : data;
  const response = await fetch(address, body === undefined ? init : { ...init, body });
  const answer = await (isEndless(address) ? beginningOf(response) : response.text());
  return { status: response.status, asked, answer };
}

/** A stream that ends when its reader leaves: a reader of the page presses Ctrl+C. */
const isEndless = (address: string) => new URL(address).pathname.startsWith("/api/activity-stream/");

async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}
