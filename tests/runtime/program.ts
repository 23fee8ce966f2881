import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, onTestFinished } from "vitest";

const program = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

type Environment = Record<string, string>;

export interface Program {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Waits until the output on either stream matches; rejects when the program ends before. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>;
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>;
}

/** Anything started ends with its test, or with its file when all tests of it share that. */
let register: (end: () => void | Promise<void>) => void = onTestFinished;

/** Calls `end` when the test has finished, or the file if all its tests share what began. */
export function atEnd(end: () => void | Promise<void>): void {
  register(end);
}

/** Starts something once for all tests of a file, such as a server; it ends with them. */
export function shared<T>(begin: () => Promise<T>): () => T {
  const ends: (() => void | Promise<void>)[] = [];
  let begun: { value: T } | undefined;
  beforeAll(async () => {
    register = (end) => ends.unshift(end);
    try {
      begun = { value: await begin() };
    } finally {
      register = onTestFinished;
    }
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => {
    if (!begun) throw new Error("It did not begin");
    return begun.value;
  };
}

/** A directory for the data of one test, or of several that share it. */
export function dataDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "agent-engine-"));
  atEnd(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts the built program with only the given environment and input. It ends with the test. */
export function start(args: string[], environment: Environment = {}, input?: string): Program {
  const { PATH = "", TMPDIR = tmpdir() } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    cwd: environment.DATA_DIR ?? tmpdir(),
    env: { PATH, TMPDIR, PORT: "0", ...environment },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input);
  return follow(child);
}

/** Reads the output of a program that was started with pipes, and ends it with the test. */
export function follow(child: ChildProcess): Program {
  const output = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  atEnd(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const printed: Program["printed"] = (pattern) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const match = output.stdout.match(pattern) ?? output.stderr.match(pattern);
        if (match) resolve(match);
      };
      waiting.add(look);
      look();
      void ended.then(() => reject(new Error(`It ended without printing ${pattern}:\n${output.stderr}`)));
    });
  return { child, printed, ended, stdout: () => output.stdout, stderr: () => output.stderr };
}

/** Runs one command to its end. */
export async function run(args: string[], environment: Environment = {}, input?: string) {
  const { ended, stdout, stderr } = start(args, environment, input);
  const code = await ended;
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Starts a server and waits until it answers. */
export async function serve(args: string[], environment: Environment): Promise<Program & { url: string }> {
  const server = start(args, environment);
  const [, url = ""] = await server.printed(/"address":"(http:[^"]+)"/);
  return { ...server, url };
}

/** Starts a server by quickstart and reads its output. */
export async function quickstart(environment: Environment, ...flags: string[]) {
  const server = await serve(["quickstart", ...flags], environment);
  await server.printed(/Ctrl\+C/);
  const shown = (label: string) => server.stdout().match(new RegExp(`^ +${label} +(\\S+)`, "m"))?.[1] ?? "";
  return { ...server, key: shown("Key"), password: shown("Password"), email: shown("Owner") };
}

export interface ChatOptions {
  url: string;
  key: string;
  model?: string;
  text: string;
  chatId?: string;
  stream?: boolean;
}

/** One message to an agent, the one that quickstart makes unless `model` names another. */
export function chat({ url, key, model = "assistant", text, chatId, stream = false }: ChatOptions): Promise<Response> {
  const body = {
    model,
    messages: [{ role: "user", content: text }],
    stream,
    ...(chatId === undefined ? {} : { chat_id: chatId }),
  };
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}
