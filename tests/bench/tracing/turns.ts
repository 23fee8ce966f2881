import { randomBytes } from "node:crypto";
import { freePort } from "../../postgres-node.ts";
import type { Target } from "../doors.ts";
import { createAgents, ownerToken, send, startEngine } from "../engine.ts";
import { median, shown } from "../figures.ts";
import { load } from "../load.ts";
import { cpuMs, startScript } from "../processes.ts";

const rounds = 6;
const turns = 500;

export const tracingHead = ["Turns", "CPU-ms a turn", "to the first", "Spans taken a turn"];

/** The time between the last turn and the batch with its trace. */
const settleMs = 1_500;

/** The cost of a traced turn: for its agent's project, for one with a dead collector, and also for the operator. */
export async function measureTracing(modelUrl: string, database: () => Promise<string>): Promise<string[][]> {
  const collector = await startScript("tracing/collector-server.ts");
  try {
    const taken = async () => Number(await (await fetch(`${collector.url}/spans`)).text());
    const all = await withEngine(modelUrl, await database(), {}, async (own) => {
      const gone = `http://127.0.0.1:${await freePort()}`;
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      return withEngine(modelUrl, await database(), env, (watched) => {
        const ways: Way[] = [
          { way: "untraced", engine: own, choose: () => own.trace(false) },
          { way: "in the agent's project", engine: own, choose: () => own.trace(true, collector.url) },
          { way: "in a project whose collector is gone", engine: own, choose: () => own.trace(true, gone) },
          { way: "for the operator", engine: watched, choose: () => watched.trace(false) },
          {
            way: "for the operator and in the agent's project",
            engine: watched,
            choose: () => watched.trace(true, collector.url),
          },
        ];
        return costsOf(ways, taken);
      });
    });
    const [first] = all;
    return all.map(({ way, costs, spans }) => {
      const ratio = `${(median(costs) / median(first?.costs ?? [1])).toFixed(2)}×`;
      return [way, shown(costs), ratio, (spans / (rounds * turns)).toFixed(2)];
    });
  } finally {
    await collector.stop();
  }
}

interface Traced {
  pid: number;
  target: Target;
  trace(enabled: boolean, baseUrl?: string): Promise<void>;
}

async function withEngine<T>(
  modelUrl: string,
  databaseUrl: string,
  env: Record<string, string>,
  work: (engine: Traced) => Promise<T>,
): Promise<T> {
  const engine = await startEngine({
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: randomBytes(32).toString("hex"),
    OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
    ...env,
  });
  try {
    const target = await createAgents(engine.url);
    const token = await ownerToken(engine.url);
    const secrets = [{ key: "tracing_api_key", value: "pk-lf-bench:sk-lf-bench" }];
    await send(engine.url, "PUT", "/api/instances/short/secrets", { secrets }, token);
    return await work({
      pid: engine.pid,
      target,
      async trace(tracingEnabled, tracingBaseUrl) {
        if (tracingBaseUrl) {
          await send(engine.url, "PATCH", "/api/installation/policies", { tracingBaseUrl }, token);
        }
        await send(engine.url, "PATCH", "/api/instances/short", { tracingEnabled }, token);
      },
    });
  } finally {
    await engine.stop();
  }
}

interface Way {
  way: string;
  engine: Traced;
  choose: () => Promise<void>;
}

/** The kinds alternate, so that other load on the machine affects all of them. The first round warms up. */
async function costsOf(
  ways: readonly Way[],
  taken: () => Promise<number>,
): Promise<{ way: string; costs: number[]; spans: number }[]> {
  const found = ways.map((one) => ({ ...one, costs: [] as number[], spans: 0 }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of found) {
      const { pid, target } = one.engine;
      await one.choose();
      const [before, spans] = [cpuMs(pid), await taken()];
      await load(target, "short", { turns, concurrency: 16, streamed: false });
      await new Promise((resolve) => setTimeout(resolve, settleMs));
      if (round === 0) continue;
      one.costs.push((cpuMs(pid) - before) / turns);
      one.spans += (await taken()) - spans;
    }
  }
  return found;
}
