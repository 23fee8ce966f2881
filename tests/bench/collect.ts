import { renameSync, writeFileSync } from "node:fs";

// Loaded into a measured process: collects its garbage when asked to and writes down what is left.
const path = process.env.BENCH_MEMORY_PATH;

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  if (!path) return;
  writeFileSync(`${path}.part`, String((heapUsed + external) / 1024));
  renameSync(`${path}.part`, path);
});
