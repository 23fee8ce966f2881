import { expect, test } from "vitest";
import { pooledPost } from "../../../src/adapters/node/post/post.ts";
import { createTracer } from "../../../src/adapters/tracer/tracer.ts";
import type { ModelSpec } from "../../../src/core/ports.ts";
import { basic, otlpReceiver } from "../../otlp-receiver.ts";
import { finish, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { asking } from "../chat/asking.ts";
import { eventually } from "../chat/chat.ts";
import { providersOf } from "../chat/connections.ts";
import { pair, traced } from "./traced.ts";

test("the operator's collector gets the same spans with model and tokens, of agents that are not traced too", async () => {
  const model = scriptedModel((_, index) =>
    index % 2 === 0
      ? {
          parts: [
            ...text("A moment."),
            ...toolCall("c1", "setState", { key: "drink", value: "tea" }),
            finish("tool-calls", { input: 40, output: 12 }),
          ],
        }
      : { parts: [...text(" Noted."), finish("stop", { input: 60, output: 3 })] },
  );
  const h = await traced(model, {
    operator: true,
    fields: { tracingEnabled: false, provider: "mistral", model: "small" },
  });
  await h.complete("Tea, please", { chat_id: "c" });
  const spans = await h.arrive(4);
  const [only] = h.receiver.received;
  expect(only).toMatchObject({
    path: "/v1/traces",
    authorization: "",
    headers: { "x-tenant": "ops", "content-type": "application/json" },
    resource: { "service.name": "agents" },
  });
  const [root, one, two, call] = spans;
  expect(spans.map(({ name, kind, parentSpanId }) => [name, kind, parentSpanId])).toEqual([
    [`invoke_agent ${h.agent.slug}`, 1, null],
    ["chat small", 3, root?.spanId],
    ["chat small", 3, root?.spanId],
    ["execute_tool setState", 1, root?.spanId],
  ]);
  expect(root?.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "mistral_ai",
    "gen_ai.request.model": "small",
    "gen_ai.agent.name": h.agent.slug,
    "gen_ai.conversation.id": `${h.agent.slug}:web:api-c`,
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 15,
    "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Tea, please"}]}]',
    "agent_engine.turn.status": "done",
  });
  expect(one?.attributes).toMatchObject({ "gen_ai.usage.input_tokens": 40, "gen_ai.usage.output_tokens": 12 });
  expect(two?.attributes).toMatchObject({
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 60,
  });
  expect(call?.attributes).toMatchObject({
    "gen_ai.tool.name": "setState",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.arguments": '{"key":"drink","value":"tea"}',
  });
});

test("both get their own spans of one turn, and only the operator's name model and tokens", async () => {
  const h = await traced(
    scriptedModel(() => reply("Hi.")),
    { operator: true },
  );
  await h.complete("Hello");
  await h.arrive(4);
  const [own, operators] = [basic(pair), ""].map((by) =>
    h.receiver.received.find(({ authorization }) => authorization === by),
  );
  expect(own?.spans.map(({ traceId, spanId }) => [traceId, spanId]).at(0)).toEqual(
    operators?.spans.map(({ traceId, spanId }) => [traceId, spanId]).at(0),
  );
  expect(own?.body).not.toContain("gen_ai");
  expect(operators?.body).toContain("gen_ai.usage.output_tokens");
});

test("a turn that another agent asked for is part of the asker's trace there, and a trace of its own in its project", async () => {
  const receiver = await otlpReceiver();
  const collector = {
    id: "operator",
    name: "collector",
    url: `${receiver.url}/v1/traces`,
    headers: {},
    resource: { "service.name": "agents" },
  };
  const h = await asking({
    fields: { tracingEnabled: true },
    more: { collector, tracer: (clock, log) => createTracer({ clock, log, post: pooledPost() }) },
  });
  h.services.policies.set({ ...h.services.policies.values, tracingBaseUrl: receiver.url });
  await h.send("PUT", "/api/instances/helper/secrets", { secrets: [{ key: "tracing_api_key", value: pair }] });
  await h.say("How long?");
  const came = (authorization: string, spans: number) =>
    eventually(async () => {
      await h.clock.advance(50);
      const all = receiver.spans(authorization);
      return all.length >= spans && all;
    });
  // The caller: its turn, two steps, the call. The helper: its turn and one step.
  const spans = await came("", 6);
  const call = spans.find(({ name }) => name === "execute_tool agent:helper");
  const asked = spans.find(({ name }) => name === "invoke_agent helper");
  expect(asked).toMatchObject({ traceId: call?.traceId, parentSpanId: call?.spanId, links: [] });
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const [own] = await came(basic(pair), 2);
  expect(own).toMatchObject({
    name: "helper",
    parentSpanId: null,
    spanId: asked?.spanId,
    links: [{ traceId: call?.traceId, spanId: call?.spanId }],
  });
  expect(own?.traceId).not.toBe(call?.traceId);
});

test("a step that another model answered has that model, and the failure of the first", async () => {
  const backup = scriptedModel([reply("ok")]);
  const overloaded = scriptedModel(() => ({ fail: { status: 503 } }));
  const resolve = async ({ model }: ModelSpec) => (model === "first" ? overloaded : backup);
  const h = await traced(undefined, {
    operator: true,
    fields: { tracingEnabled: false, provider: null, model: null },
    more: { models: { resolve } },
  });
  const providers = providersOf(h);
  const first = await providers.connect("first", { provider: "openai" });
  const fallbacks = [{ connectionId: await providers.connect("second"), model: "second" }];
  await providers.bind(h.agent.slug, "chat", first, { model: "first", fallbacks });
  await h.complete("Hi", { chat_id: "c" });
  const [, step] = await h.arrive(2);
  expect(step?.name).toBe("chat second");
  expect(step?.attributes).toMatchObject({
    "gen_ai.provider.name": "mistral_ai",
    "gen_ai.request.model": "second",
    "agent_engine.failed_attempts": ["provider-failed"],
  });
});
