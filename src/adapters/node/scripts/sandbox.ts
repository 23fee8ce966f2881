import variant from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSContext } from "quickjs-emscripten-core";
import { isDeeperThan } from "../../../core/json.ts";
import { resolveImport, type ScriptFiles } from "./modules.ts";
import { type ScriptOrder, type ScriptOutcome, tooLate, tooMuchMemory } from "./order.ts";
import { entryName, longestError, longestResult, prelude } from "./prelude.ts";

/** 64 MB for the whole interpreter. (Its own `setMemoryLimit` is not reliable.) */
const memoryPages = 1024;
/** A fraction of the thread's stack, so that the interpreter notices an overflow before the thread does. */
const stackBytes = 512 * 1024;
const mostLevels = 200;
const jobsAtOnce = 1_000;

const failed = (error: string): ScriptOutcome => ({ ok: false, error });

const tooMuch = "The script was ended: it needs more than its 64 MB of memory, or calls itself too deeply";
const neverFinished = "The script never finished: it waits for a promise that nothing can settle";

/** Runs a script in a new interpreter with its own memory. Blocks the thread for `timeoutMs` or a little longer. */
export async function runInSandbox(
  wasm: WebAssembly.Module,
  order: ScriptOrder,
  log: (text: string) => void,
): Promise<ScriptOutcome> {
  const vm = await openContext(wasm);
  const deadline = Date.now() + order.timeoutMs;
  const isLate = () => Date.now() > deadline;
  vm.runtime.setMaxStackSize(stackBytes);
  vm.runtime.setInterruptHandler(isLate);
  offerModules(vm, order);
  const outcome = evaluate(vm, order, { log, isLate });
  return outcome.ok || !isLate() ? outcome : failed(tooLate(order.timeoutMs));
}

async function openContext(wasm: WebAssembly.Module): Promise<QuickJSContext> {
  const sandbox = newVariant(variant, {
    wasmModule: wasm,
    // The memory has its full size from the start: if it grew, the library's views of it would become invalid.
    wasmMemory: new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages }),
  });
  return (await newQuickJSWASMModuleFromVariant(sandbox)).newContext();
}

const refusal = "script:refused ";

function offerModules({ runtime }: QuickJSContext, { file, files }: ScriptOrder): void {
  // The library loses errors of the normalizer, so a refusal is passed to the loader as the name of a module.
  const normalize = (importer: string, request: string) => {
    if (request === entryName) return file;
    const resolved = resolveImport(importer, request, files);
    return "file" in resolved ? resolved.file : refusal + resolved.refused;
  };
  const load = (name: string) => files.get(name) ?? { error: new TypeError(name.replace(refusal, "")) };
  runtime.setModuleLoader(load, normalize);
}

interface Host {
  log(text: string): void;
  isLate(): boolean;
}

/** Runs an order. Frees no handles, since the interpreter's memory is dropped as a whole. */
function evaluate(vm: QuickJSContext, order: ScriptOrder, { log, isLate }: Host): ScriptOutcome {
  try {
    const start = vm.unwrapResult(vm.evalCode(prelude, "", { type: "global" }));
    const write = vm.newFunction("log", (text) => log(readLogged(vm.getString(text))));
    const promise = vm.unwrapResult(vm.callFunction(start, vm.undefined, write, vm.newString(order.args)));
    while (vm.runtime.hasPendingJob() && !isLate()) {
      // Such an error is the interpreter's. An error in a job's code rejects the promise of the job.
      if (vm.runtime.executePendingJobs(jobsAtOnce).error) return failed(tooMuch);
    }
    const state = vm.getPromiseState(promise);
    if (state.type === "pending") return failed(neverFinished);
    return state.type === "fulfilled"
      ? checkResult(vm.getString(state.value))
      : failed(explain(vm.getString(state.error), order.files));
  } catch {
    // The interpreter's memory or this thread's stack is used up, so there was no room even for the script's error.
    return failed(tooMuch);
  }
}

/** Reads a logged text from JSON, because the library cuts texts at NUL. */
function readLogged(json: string): string {
  const text: unknown = JSON.parse(json);
  return typeof text === "string" ? text.toWellFormed() : "";
}

function checkResult(json: string): ScriptOutcome {
  if (Buffer.byteLength(json) > longestResult) return failed("The result is larger than 1 MiB");
  if (isDeeperThan(JSON.parse(json), mostLevels))
    return failed(`The result is nested in more than ${mostLevels} levels`);
  return { ok: true, json };
}

/** Explanations by error name. The interpreter throws null when memory lacks even for its out-of-memory error. */
const reasons: ReadonlyMap<string, string> = new Map([
  ["InternalError: out of memory", tooMuchMemory],
  ["The script threw: null", `${tooMuchMemory}, or threw null`],
]);

/** The error that the prelude reports, as one line, with its position in the scripts. */
function explain(json: string, files: ScriptFiles): string {
  const { text, stack } = JSON.parse(json) as { text: string; stack: string };
  const place = stack.split("\n").flatMap((line) => findPlace(line, files))[0];
  const reason = reasons.get(text) ?? text.slice(0, longestError).toWellFormed();
  return place === undefined ? reason : `${reason} (${place})`;
}

/** `    at total (lib/sum.js:3:7)` → `lib/sum.js:3`; empty for a file outside the scripts. */
function findPlace(line: string, files: ScriptFiles): string[] {
  const [, file, number] = /^ *at (?:.*\()?(.+?):(\d+)(?::\d+)?\)?$/.exec(line) ?? [];
  return file !== undefined && files.has(file) ? [`${file}:${number}`] : [];
}
