import { createServer } from "node:http";
import { createModels } from "../../src/adapters/models/index.ts";
import { pooledPost } from "../../src/adapters/node/post/post.ts";
import { extractionPrompt } from "../../src/features/memories/extraction/prompt.ts";
import { announce } from "./processes.ts";

// The floor of background work: it only makes the engine's model calls about a conversation, and reads no database. A
// call of `/<count>` makes those of this many conversations.

const models = createModels({ post: pooledPost() });
const spec = {
  provider: "openai-compatible",
  model: "whole",
  baseUrl: `${process.env.MODEL_URL}/v1`,
  apiKey: undefined,
} as const;

const said = [
  { role: "user" as const, content: "What is the capital of Switzerland, and why?", earlier: false },
  {
    role: "assistant" as const,
    content: Array.from({ length: 100 }, (_, index) => `token ${index} `).join(""),
    earlier: false,
  },
];
const mark = "x".repeat(48);
const prompt = () => extractionPrompt({ messages: said, known: [], title: true, now: new Date(), mark });

async function ask(text: string): Promise<void> {
  const model = await models.resolve(spec);
  const { stream } = await model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text }] }] });
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}

announce(
  createServer(async ({ url = "/0" }, response) => {
    let left = Number(url.slice(1));
    const work = async () => {
      while (left-- > 0) await ask(prompt());
    };
    await Promise.all(Array.from({ length: 16 }, work));
    response.end();
  }),
);
