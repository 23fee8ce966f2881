import type { Server } from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAdaptorServer } from "@hono/node-server";
import { generateText, streamText } from "ai";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { newId } from "../../src/core/ids.ts";
import { type Asked, openStore } from "./floor.ts";
import { announce } from "./processes.ts";

// The second floor: the same with the libraries that most such servers use.

const provider = createOpenAICompatible({ name: "bench", baseURL: `${process.env.MODEL_URL}/v1`, includeUsage: true });
const store = await openStore();

const app = new Hono();
app.post("/v1/chat/completions", async (c) => {
  const { model: agent, messages, stream: streamed, chat_id } = await c.req.json<Asked>();
  const found = await store.modelOf(agent);
  if (!found) return c.json({ message: "Unknown model" }, 404);
  const id = newId();
  const call = { model: provider(found), messages, abortSignal: c.req.raw.signal };
  if (!streamed) {
    const { text, finishReason } = await generateText(call);
    await store.keep(id, chat_id, text);
    const message = { role: "assistant", content: text };
    const choices = [{ index: 0, message, finish_reason: finishReason }];
    return c.json({ id, object: "chat.completion", model: agent, choices });
  }
  return streamSSE(c, async (stream) => {
    const say = (delta: object, finish_reason: string | null) => {
      const choices = [{ index: 0, delta, finish_reason }];
      return stream.writeSSE({ data: JSON.stringify({ id, object: "chat.completion.chunk", model: agent, choices }) });
    };
    let content = "";
    for await (const part of streamText(call).stream) {
      if (part.type === "text-delta") {
        content += part.text;
        await say({ content: part.text }, null);
      } else if (part.type === "finish") await say({}, part.finishReason);
      else if (part.type === "error") throw part.error;
    }
    await store.keep(id, chat_id, content);
    await stream.writeSSE({ data: "[DONE]" });
  });
});
announce(createAdaptorServer({ fetch: app.fetch }) as Server);
