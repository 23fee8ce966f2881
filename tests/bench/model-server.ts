import { createServer, type ServerResponse } from "node:http";
import { announce } from "./processes.ts";
import { type ReplyShape, replyShapes, shapeNames } from "./shapes.ts";

// A model server that streams at a steady pace; the model's name sets its length. It shares its core with the load, so
// it makes every piece once, writes it to the socket in the framing of HTTP itself, and has one timer for all streams.

/** The number of answers to the engine's background calls. */
let described = 0;

const server = createServer((request, response) => {
  if (request.url === "/described") return void response.end(String(described));
  let text = "";
  request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  request.on("end", () => answer(text, response));
});

function answer(text: string, response: ServerResponse): void {
  const { model, stream } = JSON.parse(text) as { model: ReplyShape; stream?: boolean };
  const description = text.includes(askedForJson) ? aboutConversation : null;
  if (description) described += 1;
  const { tokens } = replyShapes[model];
  // As most texts are counted.
  const asked = Math.ceil(text.length / 4);
  const usage = { prompt_tokens: asked, completion_tokens: tokens, total_tokens: tokens + asked };
  if (!stream) {
    const content = description ?? contents[model].join("");
    const message = { role: "assistant", content };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ ...head, object: "chat.completion", model, choices, usage }));
    return;
  }
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const ending = `${event({ model, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}${event({ model, choices: [], usage })}data: [DONE]\n\n`;
  if (description) response.end(contentEvent(model, description) + ending);
  else if (replyShapes[model].everyMs === 0) response.end(contents[model].map(asEvent(model)).join("") + ending);
  else {
    response.flushHeaders();
    say({ response, shape: model, sent: 0, ending }, Math.floor(performance.now()));
  }
}

interface Stream {
  response: ServerResponse;
  shape: ReplyShape;
  sent: number;
  ending: string;
}

/** By the millisecond in which the next piece of a stream is due. */
const calendar = new Map<number, Stream[]>();
let ticking: NodeJS.Timeout | null = null;
let ticked = 0;

function say(stream: Stream, at: number): void {
  const { response, shape, sent, ending } = stream;
  if (response.destroyed) return;
  const { everyMs } = replyShapes[shape];
  const piece = framed[shape][sent];
  if (!piece) {
    response.end(ending);
    return;
  }
  response.socket?.write(piece);
  stream.sent += 1;
  // From the due time, so that late timers don't add up.
  const due = at + everyMs;
  const others = calendar.get(due);
  if (others) others.push(stream);
  else calendar.set(due, [stream]);
  if (ticking) return;
  ticked = at;
  ticking = setInterval(tick, 1);
}

function tick(): void {
  const now = Math.floor(performance.now());
  for (; ticked <= now; ticked += 1) {
    const due = calendar.get(ticked);
    if (!due) continue;
    calendar.delete(ticked);
    for (const stream of due) say(stream, ticked);
  }
  if (calendar.size > 0 || !ticking) return;
  clearInterval(ticking);
  ticking = null;
}

const head = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1_700_000_000 };

function event(fields: object): string {
  return `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
}

const contentEvent = (model: string, content: string) =>
  event({ model, choices: [{ index: 0, delta: { content }, finish_reason: null }] });

const asEvent = (model: string) => (content: string) => contentEvent(model, content);

/** A piece of a body of unknown length. */
function chunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

function ofShapes<T>(make: (shape: ReplyShape) => T): Record<ReplyShape, T> {
  return Object.fromEntries(shapeNames.map((shape) => [shape, make(shape)])) as Record<ReplyShape, T>;
}

const contents = ofShapes((shape) =>
  Array.from({ length: replyShapes[shape].tokens }, (_, index) => `token ${index} `),
);
const framed = ofShapes((shape) => contents[shape].map((content) => chunk(contentEvent(shape, content))));

/** The text of the engine's background prompts, for titles and for memories. */
const askedForJson = "Answer with JSON and nothing else";
const aboutConversation = JSON.stringify({
  title: "Capital of Switzerland",
  summary: "The user asks for a capital.",
  facts: [{ content: "The user wants to know the capital of Switzerland." }],
});

announce(server);
