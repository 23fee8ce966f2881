import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { request } from "undici";
import { type Asked, openStore } from "./floor.ts";
import { announce } from "./processes.ts";

// The first floor: the leanest server that rewrites the model's output, with one SELECT before and one INSERT after. It
// authenticates nobody, has no time-outs and keeps no order.

interface Completion {
  choices: { delta?: { content?: string }; message?: { content: string }; finish_reason: string | null }[];
}

const store = await openStore();

async function answer(asked: Asked, response: ServerResponse): Promise<void> {
  const { stream, messages, chat_id } = asked;
  const model = await store.modelOf(asked.model);
  const { body } = await request(`${process.env.MODEL_URL}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model, messages, stream }),
  });
  const id = randomUUID();
  if (!stream) {
    const [choice] = ((await body.json()) as Completion).choices;
    await store.keep(id, chat_id, choice?.message?.content ?? "");
    const text = JSON.stringify({ id, object: "chat.completion", model: asked.model, choices: [choice] });
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) });
    response.end(text);
    return;
  }

  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.once("close", () => body.destroy());
  let content = "";
  let rest = "";
  body.setEncoding("utf8");
  body.on("data", (piece: string) => {
    const text = rest + piece;
    let rewritten = "";
    let start = 0;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", start)) {
      const data = text.slice(start + "data: ".length, end);
      start = end + 2;
      if (data === "[DONE]") continue;
      const [choice] = (JSON.parse(data) as Completion).choices;
      if (!choice) continue;
      content += choice.delta?.content ?? "";
      rewritten += `data: ${JSON.stringify({ id, object: "chat.completion.chunk", model: asked.model, choices: [choice] })}\n\n`;
    }
    rest = text.slice(start);
    if (rewritten !== "") response.write(rewritten);
  });
  body.once("end", () => void store.keep(id, chat_id, content).then(() => response.end("data: [DONE]\n\n")));
  body.once("error", () => response.destroy());
}

announce(
  createServer((incoming, response) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    incoming.once("end", () => void answer(JSON.parse(text) as Asked, response));
  }),
);
