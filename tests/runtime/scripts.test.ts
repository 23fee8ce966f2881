import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { ScriptOrder, ScriptReport } from "../../src/adapters/node/scripts/order.ts";

test("the built thread runs a script, with the sandbox next to it", async () => {
  const worker = new Worker(new URL("../../dist/scripts-worker.js", import.meta.url));
  const reports: ScriptReport[] = [];
  const done = new Promise((resolve, reject) => {
    worker.on("error", reject);
    worker.on("message", (report: ScriptReport) => {
      reports.push(report);
      if ("outcome" in report) resolve(report);
    });
  });
  const files = new Map([["main.js", "console.log('hello'); export default ({ n }) => n + 1"]]);
  worker.postMessage({ file: "main.js", files, args: '{"n":1}', timeoutMs: 5_000 } satisfies ScriptOrder);
  await done;
  expect(reports).toEqual([{ started: true }, { logged: "hello" }, { outcome: { ok: true, json: "2" } }]);
  await worker.terminate();
});
