import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { createLog } from "../../src/adapters/node/log.ts";
import { openStorage } from "../../src/adapters/node/storage.ts";
import { parseSettings } from "../../src/core/config.ts";
import { newId } from "../../src/core/ids.ts";
import { announce } from "./processes.ts";
import { shapeNames } from "./shapes.ts";

export interface Asked {
  model: string;
  messages: { role: "user"; content: string }[];
}

export interface Choice {
  delta: { content?: string };
  finish_reason: string | null;
}

/** The least that a chat door can be: one SELECT, the model's stream with every chunk rewritten, one INSERT. */
export async function serveFloor(choices: (asked: Asked, signal: AbortSignal) => AsyncIterable<Choice>): Promise<void> {
  const log = createLog({ level: "warn", pretty: false, secrets: [] });
  const { database, close } = await openStorage(parseSettings(process.env), { clock: systemClock, log });
  await database.query("create table if not exists bench_agents (slug text primary key, model text not null)", []);
  await database.query("create table if not exists bench_messages (id uuid primary key, chat text, content text)", []);
  await database.query("insert into bench_agents select s, s from unnest($1::text[]) s on conflict do nothing", [
    shapeNames,
  ]);

  const app = new Hono();
  app.post("/v1/chat/completions", async (c) => {
    const asked = await c.req.json<Asked & { chat_id: string }>();
    const [agent] = await database.query<{ model: string }>("select model from bench_agents where slug = $1", [
      asked.model,
    ]);
    if (!agent) return c.json({ message: "Unknown model" }, 404);
    const id = newId();
    return streamSSE(c, async (stream) => {
      let content = "";
      for await (const choice of choices({ model: agent.model, messages: asked.messages }, c.req.raw.signal)) {
        content += choice.delta.content ?? "";
        const chunk = { id, object: "chat.completion.chunk", model: asked.model, choices: [{ index: 0, ...choice }] };
        await stream.writeSSE({ data: JSON.stringify(chunk) });
      }
      await database.query("insert into bench_messages values ($1, $2, $3)", [id, asked.chat_id, content]);
      await stream.writeSSE({ data: "[DONE]" });
    });
  });
  announce(createAdaptorServer({ fetch: app.fetch }) as Server);
  process.once("SIGTERM", () => void close().finally(() => process.exit(0)));
}
