import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

const adapter = new URL("../../src/adapters/node/log/log.ts", import.meta.url).href;

/** A process that logs this many lines of 200 bytes, says so on standard output, and then runs `then`. */
function logging(count: number, then = ""): ChildProcess {
  const script = `
    import { createLog } from ${JSON.stringify(adapter)};
    const log = createLog({ level: "info", pretty: false, secrets: [] });
    for (let line = 0; line < ${count}; line += 1) log.info({ line, filling: "x".repeat(120) }, "Told");
    setInterval(() => {}, 1000);
    ${then}
    process.stdout.write("told");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

const told = ({ stdout }: ChildProcess) => new Promise((resolve) => stdout?.once("data", resolve));

/** The lines of the log until one of them has the mark, or until the process ends. */
async function linesOf({ stderr }: ChildProcess, mark: string): Promise<Record<string, unknown>[]> {
  let text = "";
  for await (const piece of stderr?.setEncoding("utf8") ?? []) {
    text += piece;
    if (text.endsWith("\n") && text.includes(mark)) break;
  }
  const lines = text.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const numbers = (count: number) => Array.from({ length: count }, (_, line) => line);
const numbersOf = (lines: Record<string, unknown>[]) => lines.map(({ line }) => line);

test("the process doesn't wait for a reader that hangs, which finds all lines later", async () => {
  const child = logging(5_000);
  await told(child);
  expect(numbersOf(await linesOf(child, '"line":4999'))).toEqual(numbers(5_000));
});

test("a process that ends writes its waiting lines", async () => {
  const child = logging(5_000, "process.exit()");
  expect(numbersOf(await linesOf(child, "no line has it"))).toEqual(numbers(5_000));
});

test("a process ends although its log has no reader", async () => {
  expect(await once(logging(5_000, "process.exit(3)"), "exit")).toEqual([3, null]);
});

test("a process whose reader hung and died continues, and ends", async () => {
  const child = logging(5_000, 'process.once("SIGTERM", () => { log.info({}, "Ended"); process.exit(3); })');
  await told(child);
  child.stderr?.destroy();
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([3, null]);
});

test("lines beyond the limit are dropped, and their number is logged", async () => {
  const child = logging(30_000);
  await told(child);
  const lines = await linesOf(child, "dropped");
  const last = lines.pop();
  expect(last).toMatchObject({ level: "warn", message: "Lines of the log were dropped: nobody read them" });
  expect(last?.lines).toBeGreaterThan(0);
  expect(numbersOf(lines)).toEqual(numbers(30_000 - Number(last?.lines)));
});
