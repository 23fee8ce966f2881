import type { Services } from "../../context/ctx.ts";
import { inspectFiles, megabyte } from "../files/index.ts";
import { readInTime } from "./read-in-time.ts";

/** How long a sum is used, in milliseconds: to add up many files takes the embedded database long. */
const freshMs = 10 * 60_000;

/** The metrics of stored files, which are the same on every replica. */
export function measureFiles(services: Services): void {
  const { meters, database, policies } = services;
  const failure = "The files could not be added up for the metrics";
  const report = readInTime(services, { freshMs, failure }, () => inspectFiles(database));
  meters.readings(
    {
      name: "agent_engine_file_bytes",
      type: "gauge",
      labels: ["store"],
      help: "What stored files have on this machine (directory) and in buckets (s3).",
    },
    async () => {
      const found = await report();
      return Object.entries(found?.byStore ?? {}).map(([store, value]) => ({ labels: { store }, value }));
    },
  );
  meters.readings(
    {
      name: "agent_engine_file_fullest_ratio",
      type: "gauge",
      help: "How much of the policy fileMegabytes the agent has whose files have the most on this machine.",
    },
    async () => {
      const found = await report();
      const most = policies.values.fileMegabytes.total * megabyte;
      return found ? [{ value: (found.inDirectory[0]?.bytes ?? 0) / most }] : [];
    },
  );
}
