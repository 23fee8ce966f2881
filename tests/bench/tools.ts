import { randomBytes } from "node:crypto";
import type { Target } from "./doors.ts";
import { createAgents, ownerToken, send, startEngine } from "./engine.ts";
import { median, shown } from "./figures.ts";
import { load } from "./load.ts";
import { cpuMs } from "./processes.ts";

const rounds = 3;
const turns = 300;

export const toolsHead = ["Agent", "CPU-ms a turn", "to the first"];

/** The cost of 50 skills and 100 tools for a turn that uses none of them. */
export async function measureTools(modelUrl: string, databaseUrl: string): Promise<string[][]> {
  const engine = await startEngine({
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: randomBytes(32).toString("hex"),
    OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
    ALLOW_STDIO_MCP: "true",
  });
  try {
    const target = await createAgents(engine.url);
    const measure = () => costs(engine.pid, target);
    await measure();
    const plain = await measure();
    await equip(engine.url);
    const equipped = await measure();
    const ratio = `${(median(equipped) / median(plain)).toFixed(2)}×`;
    return [
      ["nothing", shown(plain), "1"],
      ["50 skills, 100 tools", shown(equipped), ratio],
    ];
  } finally {
    await engine.stop();
  }
}

async function costs(pid: number, target: Target): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = cpuMs(pid);
    await load(target, "short", { turns, concurrency: 16 });
    found.push((cpuMs(pid) - before) / turns);
  }
  return found;
}

async function equip(url: string): Promise<void> {
  const token = await ownerToken(url);
  const organization = `${url}/api/organizations/default`;
  const call = (method: string, address: string, body: object) => send("", method, address, body, token);
  const listed = await fetch(`${organization}/workspaces`, { headers: { Authorization: `Bearer ${token}` } });
  const { workspaces } = (await listed.json()) as { workspaces: { id: string }[] };
  const names = Array.from({ length: 50 }, (_, index) => `skill-${index}`);
  for (const name of names) {
    const description = `How to answer questions about the register number ${name}.`;
    await call("POST", `${organization}/skills`, { name, description, content: "Look it up.\n".repeat(100) });
    await call("PUT", `${organization}/workspaces/${workspaces[0]?.id}/skills/${name}`, {});
  }
  await call("PATCH", `${url}/api/instances/short/skills`, { enabled: names });
  const program = new URL("many-tools.ts", import.meta.url).pathname;
  const transport = { type: "stdio", command: process.execPath, args: [program] };
  await call("PUT", `${organization}/plugins/many`, { kind: "mcp", transport });
  const tools = Array.from({ length: 100 }, (_, index) => `many:tool-${index}`);
  await call("PATCH", `${url}/api/instances/short/tools`, { enabled: ["readSkill", ...tools] });
}
