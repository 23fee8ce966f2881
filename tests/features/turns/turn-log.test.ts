import { APICallError } from "@ai-sdk/provider";
import { expect, test, vi } from "vitest";
import { finish, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { asking } from "../chat/asking.ts";
import { chatHarness } from "../chat/chat.ts";

const canary = "canary-secret-0123456789";

interface Logged extends Record<string, unknown> {
  level: string;
  message: string;
}

const lines = (h: { logs: string[] }, request: string) =>
  h.logs.map((line) => JSON.parse(line) as Logged).filter(({ requestId }) => requestId === request);

const busy = () =>
  new APICallError({ message: `busy, said ${canary}`, url: "http://x", requestBodyValues: {}, statusCode: 503 });

test("one request id finds the whole story of a turn, without a word of its messages", async () => {
  const model = scriptedModel([
    { fail: busy() },
    {
      parts: [...toolCall("1", "currentTime"), ...toolCall("2", "httpRequest", { url: canary }), finish("tool-calls")],
    },
    { parts: [...text(`It is noon, ${canary}`), finish()] },
  ]);
  const h = await chatHarness(model);
  const json = { enabled: ["currentTime", "httpRequest"] };
  await h.request(`/api/instances/${h.agent.slug}/tools`, { method: "PATCH", headers: h.agent.headers, json });
  const secrets = { secrets: [{ key: "openai_api_key", value: canary }] };
  const stored = { method: "PUT", headers: h.agent.headers, json: secrets };
  expect((await h.request(`/api/instances/${h.agent.slug}/secrets`, stored)).status).toBe(200);

  const asked = h.native(`My question ${canary}`, { chat_id: "a" }, { headers: { "X-Request-Id": "story-1" } });
  const answer = await asked;
  await vi.waitFor(() => expect(h.logs.join()).toContain("tried again"));
  await h.clock.jump(1_000);
  expect(await answer.text()).toContain("It is noon");

  // The stream's line comes with its first byte, at any moment of the turn.
  const story = lines(h, "story-1").filter(({ message }) => message !== "Request");
  expect(lines(h, "story-1")).toHaveLength(story.length + 1);
  const turnId = story.at(-1)?.turnId;
  const about = { requestId: "story-1", turnId, agent: h.agent.slug };
  expect(story.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    "debug: A turn began",
    "warn: A model call failed and is tried again",
    "warn: A call of a tool failed",
    "info: A turn ended",
  ]);
  expect(story[1]).toMatchObject({
    ...about,
    step: 0,
    attempt: 1,
    code: "provider-failed",
    waitMs: expect.any(Number),
  });
  expect(story[2]).toMatchObject({ ...about, tool: "httpRequest" });
  const { turns } = await h.stored();
  expect(story[3]).toMatchObject({
    ...about,
    conversationId: `${h.agent.slug}:web:api-a`,
    door: "native",
    channel: "web",
    model: "demo:demo",
    status: "done",
    steps: 2,
    calls: 2,
    failedCalls: 1,
    tools: ["currentTime", "httpRequest"],
    promptTokens: turns[0]?.promptTokens,
    completionTokens: turns[0]?.completionTokens,
    runMs: turns[0]?.durationMs,
  });
  expect(h.logs.join()).not.toContain(canary);
  expect(h.logs.join()).not.toMatch(/My question|It is noon/);
});

test("a turn that fails has one line at its end, with the provider's words", async () => {
  const refused = Object.assign(new Error("Quota of org-7"), { statusCode: 400, isRetryable: false });
  const h = await chatHarness(scriptedModel([{ fail: refused }]));
  await h.complete("Hi", { chat_id: "a" }, { headers: { "X-Request-Id": "story-2" } });
  const story = lines(h, "story-2").filter(({ level }) => level !== "debug");
  expect(story.map(({ level, message }) => `${level}: ${message}`)).toEqual(["warn: A turn failed", "info: Request"]);
  expect(story[0]).toMatchObject({ status: "failed", code: "provider-failed", steps: 0 });
  expect(story[0]?.cause).toContain("Quota of org-7");
});

test("an agent that another one asks has its turn in the story of the asking one", async () => {
  const h = await asking();
  await (await h.native("Ask", { chat_id: "a" }, { headers: { "X-Request-Id": "story-3" } })).text();
  const ends = lines(h, "story-3").filter(({ message }) => message === "A turn ended");
  expect(ends.map(({ agent, door }) => [agent, door])).toEqual([
    ["helper", "agent"],
    ["caller", "native"],
  ]);
  expect(ends[0]?.askedBy).toBe(ends[1]?.turnId);
});
