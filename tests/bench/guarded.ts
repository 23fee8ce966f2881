import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { createAgents, ownerToken, startEngine } from "./engine.ts";
import { cpuMs } from "./processes.ts";
import { tap } from "./tap.ts";

const requests = 4_000;
const concurrency = 16;
const counted = 100;
const paths = ["/api/instances/models", "/api/instances/short", "/api/instances"];

export const guardedHead = ["Request", "Statements", "Requests a second", "CPU-ms each"];

/** The cost of a management route behind its guard, which counts, authenticates and authorizes in one statement. */
export async function measureGuarded(modelUrl: string, databaseUrl: string): Promise<string[][]> {
  const wire = await tap(databaseUrl);
  const engine = await startEngine({
    DATABASE_URL: wire.url,
    ENCRYPTION_KEY: randomBytes(32).toString("hex"),
    OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
  });
  const connections = new Agent({ keepAlive: true, maxSockets: concurrency });
  try {
    await createAgents(engine.url);
    const token = await ownerToken(engine.url);
    const ask = (path: string, method = "GET", body?: object) =>
      new Promise<void>((resolve, reject) => {
        const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
        const asking = request(engine.url + path, { method, agent: connections, headers }, (response) => {
          response.resume();
          if (response.statusCode === 200) response.once("end", resolve);
          else reject(new Error(`${method} ${path}: ${response.statusCode}`));
        });
        asking.once("error", reject);
        asking.end(body && JSON.stringify(body));
      });
    const limit = { rateLimit: { limit: 1_000_000, windowSeconds: 60 } };
    await ask("/api/installation/policies", "PATCH", limit);
    const rows: string[][] = [];
    for (const path of paths) {
      for (let index = 0; index < 500; index += 1) await ask(path);
      wire.take();
      for (let index = 0; index < counted; index += 1) await ask(path);
      const statements = wire.take().length / counted;
      const cpuBefore = cpuMs(engine.pid);
      const startedAt = performance.now();
      let left = requests;
      const work = async () => {
        while (left-- > 0) await ask(path);
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      const seconds = (performance.now() - startedAt) / 1000;
      const cpu = (cpuMs(engine.pid) - cpuBefore) / requests;
      rows.push([`GET ${path}`, statements.toFixed(2), (requests / seconds).toFixed(0), cpu.toFixed(2)]);
    }
    return rows;
  } finally {
    connections.destroy();
    await engine.stop();
    await wire.stop();
  }
}
