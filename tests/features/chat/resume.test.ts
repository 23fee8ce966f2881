import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { localNotify } from "../../../src/core/notify.ts";
import { turns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { finish, gate, reply, type ScriptItem, scriptedModel, text, textDelta } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, eventually, readEvents, readUntil, type SseEvent } from "./chat.ts";

/** A reply in three deltas; the last one waits for a gate. */
function threeDeltas() {
  const last = gate();
  const items: ScriptItem[] = [textDelta("one "), textDelta("two "), last.promise, textDelta("three"), finish()];
  return { last, model: scriptedModel(() => ({ parts: items })) };
}

const idOf = (id: string) => id.split(":")[0] ?? "";
const ids = (events: readonly SseEvent[]) => events.map(({ id }) => id);
const textOf = (events: readonly SseEvent[]) =>
  events.map(({ event, data }) => (event === "text-delta" ? data.text : "")).join("");

const streamPath = (h: ChatHarness, messageId: string, door = "chat") =>
  `/api/instances/${h.agent.slug}/${door}/stream/${messageId}`;

function resume(h: ChatHarness, messageId: string, { after = "", key = h.agent.key, method = "GET" } = {}) {
  const headers = { Authorization: `Bearer ${key}`, ...(after === "" ? {} : { "Last-Event-ID": after }) };
  return h.request(streamPath(h, messageId), { method, headers });
}

/** Begins a turn, reads until the text contains `enough`, and disconnects. */
async function beginAndLeave(h: ChatHarness, enough: string, extra: object = { chat_id: "c" }) {
  const controller = new AbortController();
  const response = await h.native("Hello", extra, { signal: controller.signal });
  const { text: read, reader } = await readUntil(response, (sofar) => sofar.includes(enough));
  controller.abort();
  await reader.cancel().catch(() => {});
  const events = await readEvents(new Response(read.slice(0, read.lastIndexOf("\n\n") + 2)));
  return { events, messageId: idOf(events[0]?.id ?? "") };
}

describe("a stream that broke off", () => {
  test("continues after its last event: missed events, then live ones, none twice", async () => {
    const { last, model } = threeDeltas();
    const h = await chatHarness(model);
    const { events, messageId } = await beginAndLeave(h, "one ");
    const after = events.at(-1)?.id ?? "";
    const response = await resume(h, messageId, { after });
    expect(response.status).toBe(200);
    last.open();
    const rest = await readEvents(response);
    expect(textOf([...events, ...rest])).toBe("one two three");
    expect(rest.at(-1)).toMatchObject({ event: "done", data: { messageId } });
    expect(ids([...events, ...rest])).toEqual([...events, ...rest].map((_, index) => `${messageId}:${index + 1}`));
    expect(model.calls).toHaveLength(1);
  });

  test("is received whole without Last-Event-ID, by several at once, and until 60 seconds after the end", async () => {
    const { last, model } = threeDeltas();
    const h = await chatHarness(model);
    const { messageId } = await beginAndLeave(h, "two ");
    const running = [resume(h, messageId), resume(h, messageId)];
    const responses = await Promise.all(running);
    last.open();
    const [first, second] = await Promise.all(responses.map(readEvents));
    expect(textOf(first ?? [])).toBe("one two three");
    expect(second).toEqual(first);
    await h.clock.advance(59_000);
    expect(await readEvents(await resume(h, messageId))).toEqual(first);
    expect(await readEvents(await resume(h, messageId, { after: first?.at(-1)?.id ?? "" }))).toEqual([]);
    await h.clock.advance(2_000);
    await h.services.database.db.update(turns).set({ finishedAt: sql`now() - interval '61 s'` });
    expect((await resume(h, messageId)).status).toBe(404);
  });

  test("is followed without a stored conversation too, on the process that runs it", async () => {
    const { last, model } = threeDeltas();
    const h = await chatHarness(model);
    const { messageId } = await beginAndLeave(h, "one ", {});
    const response = await resume(h, messageId);
    last.open();
    expect(textOf(await readEvents(response))).toBe("one two three");
  });

  test("is not found by callers who may not chat with the agent, and an event that was not sent is refused", async () => {
    const { last, model } = threeDeltas();
    const h = await chatHarness(model);
    const other = await h.anotherAgent();
    const { events, messageId } = await beginAndLeave(h, "one ");
    const statusOf = async (...args: Parameters<typeof resume>) => (await resume(...args)).status;
    expect(await statusOf(h, messageId, { key: "wrong" })).toBe(401);
    expect(await statusOf(h, messageId, { key: "wrong", method: "DELETE" })).toBe(401);
    const foreign = `/api/instances/${other.slug}/chat/stream/${messageId}`;
    const asOther = { headers: { Authorization: `Bearer ${other.key}` } };
    expect((await h.request(foreign, asOther)).status).toBe(404);
    expect((await h.request(foreign, { ...asOther, method: "DELETE" })).status).toBe(404);
    for (const odd of ["x", "%00", "..%2f", messageId.toUpperCase(), "0".repeat(5_000), events[0]?.id ?? ""]) {
      expect(await statusOf(h, odd)).toBe(404);
      expect(await statusOf(h, odd, { method: "DELETE" })).toBe(404);
    }
    for (const after of ["x", `${messageId}:`, `${messageId}:-1`, `${messageId}:1e3`, `${messageId}:999`, "1"]) {
      expect(await statusOf(h, messageId, { after })).toBe(400);
    }
    expect(await statusOf(h, messageId, { after: `${crypto.randomUUID()}:1` })).toBe(400);
    last.open();
  });

  test("answers HEAD without a body and without following: the turn is left when its last reader leaves", async () => {
    const held = gate();
    const h = await chatHarness(scriptedModel(() => ({ parts: [held.promise, ...text("late"), finish()] })));
    const controller = new AbortController();
    const response = await h.native("Hello", { chat_id: "c" }, { signal: controller.signal });
    const { text: read, reader } = await readUntil(response, (sofar) => sofar.includes("id: "));
    const messageId = /id: ([^:]+):/.exec(read)?.[1] ?? "";
    for (let n = 0; n < 2; n += 1) {
      const head = await resume(h, messageId, { method: "HEAD" });
      expect([head.status, head.headers.get("Content-Type"), head.body]).toEqual([
        ...[200, "text/event-stream; charset=utf-8", null],
      ]);
    }
    expect((await resume(h, crypto.randomUUID(), { method: "HEAD" })).status).toBe(404);
    controller.abort();
    await reader.cancel().catch(() => {});
    await eventually(async () => (await h.stored()).turns[0]?.errorCode === "disconnect");
    held.open();
  });

  test("leads on to the turn that continues after an approval", async () => {
    const model = scriptedModel([
      { parts: [{ type: "tool-call", toolCallId: "t", toolName: "currentTime", input: "{}" }, finish("tool-calls")] },
      reply("It is late."),
    ]);
    const h = await chatHarness(model);
    const json = { enabled: ["currentTime"], needsApproval: ["currentTime"] };
    await h.request(`/api/instances/${h.agent.slug}/tools`, { method: "PATCH", headers: h.agent.headers, json });
    const before = await readEvents(await h.native("What time is it?", { chat_id: "c" }));
    const done = before.at(-1);
    const messageId = idOf(done?.id ?? "");
    const { approval } = done?.data.metadata as { approval: { toolCallId: string } };
    const ref = encodeURIComponent(String(done?.data.conversationId));
    const decided = await h.request(`/api/conversations/${ref}/approvals/${approval.toolCallId}`, {
      method: "POST",
      headers: h.agent.headers,
      json: { approved: true },
    });
    expect(decided.status).toBe(201);
    // A turn that is stored and not yet known to its process would be followed as another replica's, by a stopped clock.
    await eventually(async () => (await h.stored()).turns.some(({ status }) => status === "done"));
    const after = await readEvents(await resume(h, messageId, { after: done?.id ?? "" }));
    expect(after.at(-1)?.event).toBe("done");
    expect(textOf(after)).toBe("It is late.");
    const first = after[0]?.id ?? "";
    expect(ids(await readEvents(await resume(h, messageId, { after: first })))).toEqual(ids(after.slice(1)));
  });

  test("ends with the caller's leave to follow it", async () => {
    const { last, model } = threeDeltas();
    const h = await chatHarness(model);
    const { messageId } = await beginAndLeave(h, "one ");
    const response = await resume(h, messageId);
    const secrets = { secrets: [{ key: "auth_api_key", value: "another-key-entirely" }] };
    await h.request(`/api/instances/${h.agent.slug}/secrets`, {
      method: "PUT",
      headers: h.agent.headers,
      json: secrets,
    });
    await h.engine.closeRevoked();
    expect((await readEvents(response)).map(({ event }) => event)).toEqual([
      "step-start",
      "text-delta",
      "text-delta",
      "error",
      "done",
    ]);
    last.open();
  });
});

describe("a turn is stopped", () => {
  test("by DELETE: what was said is stored, and its followers see the end", async () => {
    const { model } = threeDeltas();
    const h = await chatHarness(model);
    const response = await h.native("Hello", { chat_id: "c" });
    const { text: read, reader } = await readUntil(response, (sofar) => sofar.includes("two "));
    const messageId = /id: ([^:]+):/.exec(read)?.[1] ?? "";
    expect(await (await resume(h, messageId, { method: "DELETE" })).json()).toEqual({ stopped: true });
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read())
      rest += new TextDecoder().decode(part.value);
    expect(rest).toContain("event: done");
    expect(rest).not.toContain("event: error");
    const { messages } = await h.stored();
    expect(messages.at(-1)).toMatchObject({ content: "one two ", metadata: { stopped: "stop" } });
    expect(await (await resume(h, messageId, { method: "DELETE" })).json()).toEqual({ stopped: false });
  });
});

describe("on another replica", () => {
  async function replicas() {
    const { last, model } = threeDeltas();
    const h = await chatHarness(model);
    // `other` gets no notices of the first engine, so that the test covers a lost `notify` connection.
    const other = createEngine({ ...h.services, notify: localNotify(h.services.log) });
    const ask = (messageId: string, { after = "", method = "GET" } = {}) =>
      other.app.request(
        streamPath(h, messageId),
        { method, headers: { Authorization: `Bearer ${h.agent.key}`, ...(after ? { "Last-Event-ID": after } : {}) } },
        { remoteAddress: "192.0.2.7" },
      );
    /** Moves the clock on and runs the ticks until `work` settles. */
    const passing = async <T>(work: Promise<T>): Promise<T> => {
      let over = false;
      const ended = work.finally(() => {
        over = true;
      });
      while (!over) {
        await h.clock.advance(100);
        await h.engine.closeRevoked();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      return ended;
    };
    return { h, last, other, ask, passing };
  }

  test("a turn is followed to its end, from the event on that is asked for", async () => {
    const { h, last, ask, passing } = await replicas();
    const { events, messageId } = await beginAndLeave(h, "one ");
    const response = await ask(messageId, { after: events.at(-1)?.id ?? "" });
    expect(response.status).toBe(200);
    const reading = readEvents(response);
    last.open();
    const rest = await passing(reading);
    expect(textOf([...events, ...rest])).toBe("one two three");
    expect(ids([...events, ...rest])).toEqual([...events, ...rest].map((_, index) => `${messageId}:${index + 1}`));
    const again = await passing(readEvents(await ask(messageId)));
    expect(textOf(again)).toBe("one two three");
  });

  test("nothing is written for turns without readers", async () => {
    const { h, last } = await replicas();
    const { messageId } = await beginAndLeave(h, "one ");
    await h.engine.closeRevoked();
    last.open();
    await eventually(async () => (await h.stored()).turns[0]?.status === "done");
    await h.engine.closeRevoked();
    expect(await h.services.database.query("select turn_id from stream_chunks", [])).toEqual([]);
    expect(messageId).not.toBe("");
  });

  test("a turn whose process died ends with an error", async () => {
    const { h, ask } = await replicas();
    const { messageId } = await beginAndLeave(h, "one ");
    const reading = readEvents(await ask(messageId));
    await h.services.database.db
      .update(turns)
      .set({ leaseUntil: new Date(0) })
      .where(eq(turns.id, messageId));
    let events: SseEvent[] | null = null;
    void reading.then((read) => {
      events = read;
    });
    while (!events) {
      await h.clock.advance(500);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect((events as SseEvent[]).map(({ event }) => event)).toEqual(["error", "done"]);
  });

  test("a turn is stopped", async () => {
    const { h, ask } = await replicas();
    const { messageId } = await beginAndLeave(h, "two ");
    expect(await (await ask(messageId, { method: "DELETE" })).json()).toEqual({ stopped: true });
    await h.engine.renewLeases();
    await eventually(async () => (await h.stored()).messages.at(-1)?.metadata.stopped === "stop");
  });
});

describe("the playground", () => {
  const play = (
    h: ChatHarness,
    headers: Record<string, string>,
    extra: object = { chat_id: "p" },
    slug = h.agent.slug,
  ) =>
    h.request(`/api/instances/${slug}/playground/stream`, {
      method: "POST",
      headers,
      json: { messages: [{ role: "user", content: "Hello" }], ...extra },
    });

  test("works for every role by session, with Web off, without a key and while the agent is inactive", async () => {
    const model = scriptedModel(() => ({ parts: [...text("Hi."), finish()] }));
    const h = await chatHarness(model);
    await h.request(`/api/instances/${h.agent.slug}/channels/web`, { method: "DELETE", headers: h.agent.headers });
    await h.request(`/api/instances/${h.agent.slug}`, {
      method: "PATCH",
      headers: h.agent.headers,
      json: { active: false },
    });
    for (const role of ["viewer", "member", "admin", "owner"] as const) {
      const events = await readEvents(await play(h, await h.as(role), { chat_id: role }));
      expect(textOf(events)).toBe("Hi.");
      expect(events.at(-1)?.data.conversationId).toBe(`${h.agent.slug}:playground:${role}`);
    }
    expect((await h.stored()).conversations.map(({ channel }) => channel)).toEqual(Array(4).fill("playground"));
  });

  test("lets only those speak as an end user who may write that person's memories", async () => {
    const h = await chatHarness(scriptedModel(() => reply("Hi.")));
    for (const role of ["viewer", "member"] as const) {
      await readEvents(await play(h, await h.as(role), { chat_id: role, user: "ada" }));
    }
    const subjects = (await h.stored()).turns.map(({ subject }) => subject);
    expect(subjects.sort()).toEqual(["web:ada", `conversation:${h.agent.slug}:playground:viewer`].sort());
  });

  test("is closed to strangers, keys, other organizations and other workspaces", async () => {
    const h = await chatHarness(scriptedModel([]));
    expect((await play(h, {})).status).toBe(401);
    expect((await play(h, { Authorization: `Bearer ${h.agent.key}` })).status).toBe(401);
    expect((await play(h, await h.as("viewer", { reach: false }))).status).toBe(404);
    const organization = await h.createOrganization("other");
    expect((await play(h, await h.as("owner", { organization }))).status).toBe(404);
    expect((await play(h, h.agent.headers, {}, "nobody")).status).toBe(404);
    expect((await play(h, h.agent.headers, { messages: [] })).status).toBe(400);
  });

  test("resumes and stops at its own address only", async () => {
    const { last, model } = threeDeltas();
    const h = await chatHarness(model);
    const response = await play(h, h.agent.headers);
    const { text: read } = await readUntil(response, (sofar) => sofar.includes("two "));
    const messageId = /id: ([^:]+):/.exec(read)?.[1] ?? "";
    expect((await resume(h, messageId)).status).toBe(404);
    expect((await resume(h, messageId, { method: "DELETE" })).status).toBe(404);
    const path = streamPath(h, messageId, "playground");
    expect((await h.request(path, { headers: await h.as("viewer", { reach: false }) })).status).toBe(404);
    const again = await h.request(path, { headers: h.agent.headers });
    last.open();
    expect(textOf(await readEvents(again))).toBe("one two three");
    const stopped = await h.request(path, { method: "DELETE", headers: h.agent.headers });
    expect(await stopped.json()).toEqual({ stopped: false });
  });

  test("ends when the session does", async () => {
    const { last, model } = threeDeltas();
    const h = await chatHarness(model);
    const headers = await h.as("viewer");
    const response = await play(h, headers);
    await model.called(1);
    await h.request("/api/auth/sign-out", { method: "POST", headers });
    await h.engine.closeRevoked();
    expect((await readEvents(response)).slice(-2).map(({ event }) => event)).toEqual(["error", "done"]);
    last.open();
  });
});
