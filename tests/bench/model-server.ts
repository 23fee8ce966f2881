import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { announce } from "./processes.ts";
import { type ReplyShape, replyShapes } from "./shapes.ts";

/** A model server that streams at a steady pace; the model's name says how much. */
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  const { model } = JSON.parse(text) as { model: ReplyShape };
  const { tokens, everyMs } = replyShapes[model];

  const write = (fields: object) => response.write(`data: ${JSON.stringify({ ...head, model, ...fields })}\n\n`);
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const startedAt = performance.now();
  for (let sent = 0; sent < tokens && !response.destroyed; sent += 1) {
    write({ choices: [{ index: 0, delta: { content: `token ${sent} ` }, finish_reason: null }] });
    // Measured from the start, so that late timers don't add up.
    await sleep(Math.max(0, startedAt + (sent + 1) * everyMs - performance.now()));
  }
  write({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  write({ choices: [], usage: { prompt_tokens: 10, completion_tokens: tokens, total_tokens: tokens + 10 } });
  response.end("data: [DONE]\n\n");
});

const head = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1_700_000_000 };

announce(server);
