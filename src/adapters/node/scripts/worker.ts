import { readFile } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import { limitLog } from "./log-limit.ts";
import type { ScriptOrder, ScriptReport } from "./order.ts";
import { runInSandbox } from "./sandbox.ts";

const wasm = WebAssembly.compile(await readFile(wasmFile()));

parentPort?.on("message", async (order: ScriptOrder) => {
  const compiled = await wasm;
  report({ started: true });
  const log = limitLog((logged) => report({ logged }));
  report({ outcome: await runInSandbox(compiled, order, log) });
});

/** The interpreter's file: next to the bundled program or, in a checkout, in the library. */
function wasmFile(): URL {
  const { url } = import.meta;
  if (!url.endsWith(".ts")) return new URL("./scripts.wasm", url);
  return new URL(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
}

function report(message: ScriptReport): void {
  parentPort?.postMessage(message);
}
