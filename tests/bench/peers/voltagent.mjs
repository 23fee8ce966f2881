import { setTimeout as sleep } from "node:timers/promises";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, Memory, VoltAgent } from "@voltagent/core";
import { createPinoLogger } from "@voltagent/logger";
import { PostgreSQLMemoryAdapter } from "@voltagent/postgres";
import { honoServer } from "@voltagent/server-hono";

const { DATABASE_URL, MODEL_URL, SHAPES, PORT } = process.env;

// It warns of its own way to pass instructions, in each turn.
console.warn = () => {};

const provider = createOpenAICompatible({ name: "bench", baseURL: `${MODEL_URL}/v1`, includeUsage: true });
// A turn holds one connection while it waits for another, so that 16 at a time stop for good with the usual 10.
const storage = new PostgreSQLMemoryAdapter({ connection: DATABASE_URL, maxConnections: 140 });
const memory = new Memory({ storage });
const agents = Object.fromEntries(
  SHAPES.split(",").map((shape) => [
    shape,
    new Agent({ id: shape, name: shape, instructions: "You answer questions.", model: provider(shape), memory }),
  ]),
);
const logger = createPinoLogger({ level: "error" });
const server = honoServer({ port: Number(PORT), hostname: "127.0.0.1", enableSwaggerUI: false });
const running = new VoltAgent({ agents, logger, server });
await running.ready;
// It is ready before it listens.
while (!(await fetch(`http://127.0.0.1:${PORT}/agents`).catch(() => null))?.ok) await sleep(5);
process.send({ port: Number(PORT) });
process.once("SIGTERM", () => process.exit(0));
