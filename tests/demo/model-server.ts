import { createServer } from "node:http";
import { json } from "node:stream/consumers";

interface Asked {
  messages: { role: string; content: string | { text?: string }[] | null }[];
  stream?: boolean;
}

interface Answer {
  reasoning?: string;
  call?: { name: string; arguments: string };
  text?: string;
}

const answers: readonly { about: RegExp; answers: (results: boolean) => Answer }[] = [
  {
    about: /open|close/i,
    answers: (results) =>
      results
        ? {
            text: "Yes, for two more hours:\n\n| Day | Open |\n|---|---|\n| Monday to Friday | 9:00 – 18:30 |\n| Saturday | 9:00 – 16:00 |\n\nShall I put a tin of **Sencha** aside for you?",
          }
        : {
            reasoning: "They ask for today's hours. I need the time at the shop to say whether it is still open.",
            call: { name: "currentTime", arguments: '{"timezone":"Europe/Zurich"}' },
          },
  },
  {
    about: /steep|green tea|sencha/i,
    answers: () => ({
      text: "Two minutes at 70 °C are right for a Sencha. Three rules that help:\n\n1. Warm the pot first.\n2. One teaspoon a cup.\n3. Pour all of it out, so that the second infusion is as good.",
    }),
  },
];

const usual: Answer = { text: "I looked into it: the parcel left us this morning and arrives on Thursday." };

/** A chat-completions server with a few answers of a tea house, for pictures: no model is called. */
export async function modelServer(): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST")
      return void response.end(JSON.stringify({ object: "list", data: [{ id: "tea-1" }] }));
    const { messages = [] } = (await json(request)) as Asked;
    const last = messages.at(-1);
    const said = textOf(messages.findLast(({ role }) => role === "user")?.content ?? "");
    const answer = answers.find(({ about }) => about.test(said))?.answers(last?.role === "tool") ?? usual;
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const chunk of chunksOf(answer)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The model has no port");
  return { url: `http://127.0.0.1:${address.port}/v1`, close: () => void server.close() };
}

const textOf = (content: string | { text?: string }[]) =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");

function* chunksOf({ reasoning, call, text }: Answer): Generator<object> {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: "answer",
    object: "chat.completion.chunk",
    created: 1,
    model: "tea-1",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  if (reasoning !== undefined) yield chunk({ reasoning_content: reasoning });
  if (text !== undefined) yield chunk({ content: text });
  if (call) {
    yield chunk({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] });
  }
  yield {
    ...chunk({}, call ? "tool_calls" : "stop"),
    usage: { prompt_tokens: 812, completion_tokens: 96, total_tokens: 908 },
  };
}
