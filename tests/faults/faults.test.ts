import { setTimeout as sleep } from "node:timers/promises";
import { expect, type TestContext, test } from "vitest";
import { memoryKiB } from "../bench/processes.ts";
import { rounds } from "../rounds.ts";
import { needPrograms, skipHere } from "../skip.ts";
import { Cluster, programs } from "./cluster.ts";
import { expectKept, repeatedParts } from "./kept.ts";
import { Load } from "./load.ts";

/** With the times of the page when a person waits. */
const [pace, restMs] =
  rounds > 1 ? [{ drainSeconds: 10, checkEvery: "2s" }, 200] : [{ drainSeconds: 2, checkEvery: "200ms" }, 1_000];

const restarted = "a server is restarted";

/** In this order in each round. */
const faults: Record<string, (cluster: Cluster, round: number) => Promise<void>> = {
  [restarted]: (cluster, round) => cluster.restart(round % 2),
  "a server is killed": (cluster, round) => cluster.kill(round % 2),
  "PgBouncer is killed": (cluster) => cluster.killPooler(),
  "PostgreSQL crashes and starts again": (cluster) => cluster.crash(),
  "PostgreSQL's primary is killed, and the standby promoted": (cluster) => cluster.failOver(),
};

async function startCluster(context: TestContext): Promise<Cluster> {
  needPrograms(context, ...programs);
  return (await Cluster.start(pace)) ?? skipHere(context, "there is no PostgreSQL for this platform");
}

test(
  "whatever fails, each question is answered once, in order, and a restart is not noticed",
  async (context) => {
    const cluster = await startCluster(context);
    const load = new Load(cluster, restMs);
    await load.calm();
    for (let round = 0; round < rounds; round++) {
      for (const [name, happen] of Object.entries(faults)) {
        load.during(name);
        await happen(cluster, round);
        await load.calm();
      }
    }
    await load.end();
    console.table(load.figures());
    console.log(`Sent twice to Telegram: ${repeatedParts(cluster)} of ${cluster.telegram.sent.length} parts`);
    expect(load.failures(restarted)).toEqual([]);
    await expectKept(cluster, load);
  },
  480_000 * rounds,
);

if (rounds > 1) {
  const minutes = rounds;

  test(
    "a load of minutes without a fault: no attempt fails, and memory stays",
    async (context) => {
      const cluster = await startCluster(context);
      const load = new Load(cluster, restMs);
      const memory = () => cluster.servers.map(({ child }) => memoryKiB(child.pid ?? 0));
      const warmingUp = 60_000;
      await sleep(warmingUp);
      const before = memory();
      load.during("a soak");
      await sleep(60_000 * minutes);
      const after = memory();
      await load.end();
      console.table(load.figures());
      console.log(`Memory of the servers in KiB: ${before.join(", ")}; ${minutes} minutes later ${after.join(", ")}`);
      expect(load.failures("a soak")).toEqual([]);
      for (const [index, kib] of after.entries()) expect(kib).toBeLessThan(2 * (before[index] ?? 0));
      await expectKept(cluster, load);
    },
    60_000 * (minutes + 5),
  );
}
