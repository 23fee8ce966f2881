import { expect, test } from "vitest";
import { pooledPost } from "../../../src/adapters/node/post/post.ts";
import { createTracer } from "../../../src/adapters/tracer/tracer.ts";
import { otlpReceiver } from "../../otlp-receiver.ts";
import { reply, type ScriptedCall, scriptedModel } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { answering, matching } from "../room/match/matching.ts";
import { traced } from "./traced.ts";

const said = ({ prompt }: Pick<ScriptedCall, "prompt">) => JSON.stringify(prompt);

test("titles and memories are traces of their own, on a service thread of their conversation, without secrets", async () => {
  const model = scriptedModel((call) => {
    if (said(call).includes("importance")) return reply('{"facts":[{"content":"Likes tea"}]}');
    return reply(said(call).includes("in 2 to 6 words") ? '{"title":"Tea"}' : "Noted.");
  });
  const h = await traced(model, {
    operator: true,
    fields: { provider: "openai", fastModel: "openai:fast", memoryEnabled: true },
  });
  await h.complete("I like tea, and my key is sk-lf-secret-1", { chat_id: "c", user: "ada" });
  // The answer with the memories has no title, which then gets a call of its own.
  await h.clock.jump(2_000);
  await h.engine.tick();
  const roots = () => h.receiver.spans().filter(({ parentSpanId }) => parentSpanId === null);
  const ended = await eventually(async () => {
    await h.clock.advance(50);
    const all = roots();
    return (
      ["describe-conversation", "extract-memories"].every(
        (name) => all.filter((one) => one.name === name).length === 2,
      ) && all
    );
  });
  const ref = `${h.agent.slug}:web:api-c`;
  for (const purpose of ["describe-conversation", "extract-memories"]) {
    const [one, other] = ended.filter(({ name }) => name === purpose);
    expect(one?.traceId).toBe(other?.traceId);
    const [own, operators] = "session.id" in (one?.attributes ?? {}) ? [one, other] : [other, one];
    expect(own?.attributes).toMatchObject({
      "session.id": `${ref}-service`,
      "langfuse.trace.metadata.conversation_id": ref,
      "langfuse.trace.tags": ["background"],
    });
    expect(operators?.attributes).toMatchObject({
      "gen_ai.conversation.id": `${ref}-service`,
      "gen_ai.request.model": "fast",
      "gen_ai.usage.output_tokens": 1,
    });
  }
  expect(h.receiver.received.map(({ body }) => body).join()).not.toContain("sk-lf-secret-1");
});

test("an event is matched on a thread of its own, and its turn is one of the conversation that it begins", async () => {
  const receiver = await otlpReceiver();
  const collector = {
    id: "operator",
    name: "collector",
    url: `${receiver.url}/v1/traces`,
    headers: {},
    resource: { "service.name": "agents" },
  };
  const h = await matching(answering([reply("yes")], [reply("Looked at it.")]), {
    collector,
    tracer: (clock, log) => createTracer({ clock, log, post: pooledPost() }),
  });
  await h.define({ contextPrompt: "Have a look." });
  const { receivedAt, conversationRef } = await h.bring("an order");
  const roots = await eventually(async () => {
    await h.clock.advance(50);
    const found = receiver.spans().filter(({ parentSpanId }) => parentSpanId === null);
    return found.length >= 2 && found;
  });
  const threads = new Map(roots.map(({ name, attributes }) => [name, attributes["gen_ai.conversation.id"]]));
  expect(threads.get("match-event")).toBe(`room:${h.slug}:${receivedAt.getTime()}-service`);
  expect(threads.get(`invoke_agent ${h.slug}`)).toBe(conversationRef);
  expect(conversationRef).toMatch(new RegExp(`^room:${h.slug}:\\d+$`));
});
