import { createServer, type ServerResponse } from "node:http";

/** The parts of a model call that stand-ins read. */
export interface Asked {
  model: string;
  stream?: boolean;
  messages: { role: string; content: unknown }[];
}

/** A model's answer: a text, or the call of a tool. */
export type Said = string | { tool: string; input: object };

/** A model that answers with a function's result, at once or when it is released. */
export interface StandInModel {
  url: string;
  /** The number of waiting calls. */
  held: () => number;
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

export async function standInModel(sayTo: (asked: Asked) => Said | Promise<Said>): Promise<StandInModel> {
  let holding = false;
  let waiting: (() => void)[] = [];
  const server = createServer((incoming, response) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    incoming.on("end", () => {
      const asked = JSON.parse(text) as Asked;
      const answer = async () => say(asked, await sayTo(asked), response);
      if (!holding) return void answer();
      waiting.push(answer);
      response.once("close", () => {
        waiting = waiting.filter((one) => one !== answer);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The server has no port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    held: () => waiting.length,
    hold() {
      holding = true;
    },
    release() {
      holding = false;
      for (const answer of waiting.splice(0)) answer();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

let calls = 0;

function say({ model, stream }: Asked, said: Said, response: ServerResponse): void {
  const head = { id: "chatcmpl-bench", created: 1_700_000_000, model };
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  const [spoken, finish_reason] = typeof said === "string" ? [{ content: said }, "stop"] : [callOf(said), "tool_calls"];
  if (!stream) {
    const choices = [{ index: 0, message: { role: "assistant", ...spoken }, finish_reason }];
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ ...head, object: "chat.completion", choices, usage }));
    return;
  }
  const event = (fields: object) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...fields })}\n\n`;
  const piece = event({ choices: [{ index: 0, delta: spoken, finish_reason: null }] });
  const ended = event({ choices: [{ index: 0, delta: {}, finish_reason }] });
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.end(`${piece}${ended}${event({ choices: [], usage })}data: [DONE]\n\n`);
}

function callOf({ tool: name, input }: Exclude<Said, string>) {
  calls += 1;
  const called = { name, arguments: JSON.stringify(input) };
  return { tool_calls: [{ index: 0, id: `call_${calls}`, type: "function", function: called }] };
}
