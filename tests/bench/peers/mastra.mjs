import { serve } from "@hono/node-server";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { MastraServer } from "@mastra/hono";
import { Memory } from "@mastra/memory";
import { PostgresStore } from "@mastra/pg";
import { Hono } from "hono";

const { DATABASE_URL, MODEL_URL, SHAPES } = process.env;

const storage = new PostgresStore({ id: "bench", connectionString: DATABASE_URL });
const memory = new Memory({ storage, options: { lastMessages: 100 } });
const agents = Object.fromEntries(
  SHAPES.split(",").map((shape) => {
    const model = { id: `bench/${shape}`, url: `${MODEL_URL}/v1`, apiKey: "none" };
    return [shape, new Agent({ id: shape, name: shape, instructions: "You answer questions.", model, memory })];
  }),
);
const app = new Hono();
await new MastraServer({ app, mastra: new Mastra({ agents, storage, logger: false }) }).init();
await storage.init();
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => process.send({ port }));
process.once("SIGTERM", () => {
  server.close();
  process.exit(0);
});
