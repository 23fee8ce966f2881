import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { announce } from "./processes.ts";
import { type ReplyShape, replyShapes } from "./shapes.ts";

/** A model server that streams at a steady pace; the model's name says how much. */
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  const { model } = JSON.parse(text) as { model: ReplyShape };
  const { tokens, everyMs, pieceLength = 0, restMs = 0 } = replyShapes[model];

  const write = (fields: object) => response.write(`data: ${JSON.stringify({ ...head, model, ...fields })}\n\n`);
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const startedAt = performance.now();
  const described = text.includes(askedForJson);
  if (described) write({ choices: [{ index: 0, delta: { content: description }, finish_reason: null }] });
  for (let sent = 0; sent < tokens && !described && !response.destroyed; sent += 1) {
    const content = `token ${sent} `.padEnd(pieceLength, "-");
    write({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    // Measured from the start, so that late timers don't add up.
    await sleep(Math.max(0, startedAt + (sent + 1) * everyMs - performance.now()));
  }
  if (restMs > 0) await sleep(restMs);
  // As most texts are counted.
  const asked = Math.ceil(text.length / 4);
  write({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  write({ choices: [], usage: { prompt_tokens: asked, completion_tokens: tokens, total_tokens: tokens + asked } });
  response.end("data: [DONE]\n\n");
});

/** Once a conversation, the engine asks in the background for what stands in lists. */
const askedForJson = "Answer with JSON and nothing else";
const description = JSON.stringify({ title: "Capital of Switzerland", summary: "The user asks for a capital." });

const head = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1_700_000_000 };

announce(server);
