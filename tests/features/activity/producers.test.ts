import { describe, expect, test } from "vitest";
import { roomEvents } from "../../../src/db/schema.ts";
import { finish, reply, scriptedModel, toolCall } from "../../scripted-model.ts";
import { chatHarness, eventually } from "../chat/chat.ts";
import { answering as onMessenger } from "../inbox/answering.ts";
import { messaging } from "../inbox/sending.ts";
import { answering, matching } from "../room/match/matching.ts";
import { withTasks } from "../tasks/tasks.ts";
import { watch } from "./watch.ts";

const secret = "canary-key-4711-abcdef";

describe("on a messenger", () => {
  test("a message is reported when it arrived, once, though it is delivered twice", async () => {
    const h = await onMessenger([reply("Hello.")]);
    const { slug, headers } = h.agent;
    const seen = watch(h);
    const json = { secrets: [{ key: "openai_api_key", value: secret }] };
    await h.request(`/api/instances/${slug}/secrets`, { method: "PUT", headers, json });
    await h.say(`My key is ${secret}.`, 901);
    await h.say(`My key is ${secret}.`, 901);
    await eventually(async () => seen.kinds().includes("inbound"));
    const message = { kind: "inbound", text: "My key is [secret].", channel: "telegram" };
    const where = { conversationId: `${slug}:telegram:42`, instance: { slug } };
    expect(seen.events()).toMatchObject([{ ...message, ...where }]);
    await h.settle();
    await h.done(1);
    await h.rested();
    expect(seen.events()).toMatchObject([
      message,
      { kind: "conversation", conversation: { event: "started" }, channel: "telegram" },
      { kind: "reply", responsePreview: "Hello.", ...where },
    ]);
  });

  test("a reply is reported with the time it was sent, or the failure to send it", async () => {
    const h = await messaging();
    const ref = `support:telegram:${h.place.target}`;
    const seen = watch(h, { agentId: h.agent.id, ref });
    const sent = () => seen.events().filter(({ kind }) => kind === "outbound");
    await h.answer("Hi");
    expect(sent()).toEqual([]);
    await h.allSent();
    await expect
      .poll(sent)
      .toMatchObject([{ status: "ok", responsePreview: "Re: Hi", channel: "telegram", conversationId: ref }]);
    h.telegram.fail("sendMessage", {
      status: 400,
      json: { ok: false, error_code: 400, description: "Bad Request: chat not found" },
    });
    await h.answer("Again");
    await h.settled((rows) => rows.some(({ status }) => status === "failed"));
    await expect
      .poll(() => sent().slice(1))
      .toMatchObject([{ status: "failed", text: expect.stringContaining("could not be sent") }]);
  });

  test("a message that an agent sends unasked is a stored row of the conversation in which people read it", async () => {
    const h = await messaging();
    const seen = watch(h, { agentId: h.agent.id, ref: `support:telegram:${h.place.target}` });
    const turnId = await h.answer("Hi", { target: "77" });
    await h.say("By the way", { turnId });
    await eventually(async () => {
      await h.engine.tick();
      return seen.persisted().length > 0;
    });
    expect(seen.persisted()).toEqual([{ messageId: expect.any(String) }]);
  });
});

describe("work without a person", () => {
  test("of a task that fires is sent once, however often it is tried", async () => {
    const h = await withTasks([{ fail: new Error("away") }, reply("Done.")]);
    const seen = watch(h);
    const { id } = await h.create();
    await h.runNow(id);
    await eventually(async () => {
      await h.pass(60_000);
      return (await h.runs(id))[0]?.status === "completed";
    });
    const fired = seen.events().filter(({ kind }) => kind === "cron");
    const [run] = await h.runs(id);
    expect(fired).toMatchObject([
      { category: "work", cron: { taskId: id, name: "Report" }, conversationId: run?.conversationId },
    ]);
    expect(run).toMatchObject({ status: "completed" });
    expect(seen.kinds()).not.toContain("inbound");
    expect(seen.kinds()).not.toContain("outbound");
  });

  test("an event's arrival is reported, and its matches", async () => {
    const h = await matching(answering([reply("yes"), reply("no")], [reply("On it.")]));
    const seen = watch(h);
    const webhooks = () => seen.events().filter(({ kind }) => kind === "webhook");
    await h.define();
    const send = (body: string, type = "application/json") =>
      h.request(`/webhooks/${h.source.token}`, { method: "POST", headers: { "Content-Type": type }, body });
    await send(JSON.stringify({ order: secret }));
    await h.idle();
    const [event] = await h.db.select().from(roomEvents);
    expect(webhooks()).toMatchObject([
      { category: "work", status: "ok", conversationId: null, webhook: { source: "Shop", phase: "received" } },
      {
        status: "ok",
        conversationId: event?.conversationRef,
        webhook: { source: "Shop", phase: "matched", definition: "Orders" },
      },
    ]);
    await send("{}");
    await h.idle();
    await send("no JSON");
    expect(webhooks().slice(2)).toMatchObject([
      { webhook: { phase: "received" } },
      { status: "ok", text: "An event of Shop matches no definition", webhook: { source: "Shop", phase: "matched" } },
      { status: "failed", text: "An event of Shop is not handled: invalid payload", webhook: { phase: "received" } },
    ]);
    expect(JSON.stringify(webhooks())).not.toContain("canary");
  });
});

test("when an agent is to remember something, the memory is reported, and whether it is new", async () => {
  const save = (content: string) => ({
    parts: [...toolCall("m", "saveMemory", { content }), finish("tool-calls")],
  });
  const h = await chatHarness(
    scriptedModel([
      save(`Likes tea, says ${secret}`),
      reply("Noted."),
      save(`likes tea, says ${secret}!`),
      reply("Yes."),
    ]),
    { slug: "helper", memoryEnabled: true },
  );
  const change = async (method: string, path: string, json: object) =>
    h.request(`/api/instances/helper${path}`, { method, headers: h.agent.headers, json });
  await change("PATCH", "/tools", { enabled: ["saveMemory"] });
  await change("PUT", "/secrets", { secrets: [{ key: "openai_api_key", value: secret }] });
  const seen = watch(h);
  for (const said of ["I like tea", "I do"]) await (await h.native(said, { chat_id: "c", user: "ada" })).text();
  const memory = {
    kind: "memory",
    category: "memory",
    conversationId: "helper:web:api-c",
    instance: { slug: "helper" },
  };
  expect(seen.events().filter(({ kind }) => kind === "memory")).toMatchObject([
    { ...memory, memory: { event: "ADD", content: "Likes tea, says [secret]" } },
    { ...memory, memory: { event: "UPDATE", content: "likes tea, says [secret]!" } },
  ]);
});
