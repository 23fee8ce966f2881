import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { createLog } from "../../src/adapters/node/log.ts";
import { openStorage } from "../../src/adapters/node/storage.ts";
import { parseSettings } from "../../src/core/config.ts";
import { newId } from "../../src/core/ids.ts";
import { announce } from "./processes.ts";

// The least that a chat door can be: one SELECT, the model's stream with every chunk rewritten, one INSERT.

const log = createLog({ level: "warn", pretty: false, secrets: [] });
const { database, close } = await openStorage(parseSettings(process.env), { clock: systemClock, log });
await database.query("create table if not exists bench_agents (slug text primary key, model text not null)", []);
await database.query("create table if not exists bench_messages (id uuid primary key, chat text, content text)", []);
await database.query("insert into bench_agents values ('short', 'short'), ('long', 'long') on conflict do nothing", []);

interface Asked {
  model: string;
  chat_id: string;
  messages: unknown[];
}

interface Chunk {
  choices: { delta: { content?: string }; finish_reason: string | null }[];
}

const app = new Hono();

app.post("/v1/chat/completions", async (c) => {
  const asked = await c.req.json<Asked>();
  const [agent] = await database.query<{ model: string }>("select model from bench_agents where slug = $1", [
    asked.model,
  ]);
  if (!agent) return c.json({ message: "Unknown model" }, 404);
  const upstream = await fetch(`${process.env.MODEL_URL}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: agent.model, stream: true, messages: asked.messages }),
  });
  const id = newId();
  return streamSSE(c, async (stream) => {
    let content = "";
    for await (const data of events(upstream)) {
      if (data === "[DONE]") break;
      const choice = (JSON.parse(data) as Chunk).choices[0];
      if (!choice) continue;
      content += choice.delta.content ?? "";
      const rewritten = { id, object: "chat.completion.chunk", model: asked.model, choices: [{ index: 0, ...choice }] };
      await stream.writeSSE({ data: JSON.stringify(rewritten) });
    }
    await database.query("insert into bench_messages values ($1, $2, $3)", [id, asked.chat_id, content]);
    await stream.writeSSE({ data: "[DONE]" });
  });
});

async function* events({ body }: Response): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (rest + piece).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield block.slice("data: ".length);
  }
}

announce(createAdaptorServer({ fetch: app.fetch }) as import("node:http").Server);
process.once("SIGTERM", () => void close().finally(() => process.exit(0)));
