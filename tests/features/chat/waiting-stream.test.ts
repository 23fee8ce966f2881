import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { localNotify } from "../../../src/core/notify.ts";
import { CurrentPolicies } from "../../../src/core/policies.ts";
import { createEngine, type Engine } from "../../../src/engine.ts";
import { finish, reply, scriptedModel } from "../../scripted-model.ts";
import { chatHarness, eventually, readEvents, readUntil } from "./chat.ts";

/** A turn whose call waits for a decision, the events of its stream, and calls that decide about it. */
async function waitingTurn() {
  const call = { type: "tool-call", toolCallId: "t", toolName: "currentTime", input: "{}" } as const;
  const model = scriptedModel([{ parts: [call, finish("tool-calls")] }, reply("It is late."), reply("Hello.")]);
  const h = await chatHarness(model);
  const own = `/api/instances/${h.agent.slug}`;
  const { headers } = h.agent;
  const json = { enabled: ["currentTime"], needsApproval: ["currentTime"] };
  await h.request(`${own}/tools`, { method: "PATCH", headers, json });
  const events = await readEvents(await h.native("What time is it?", { chat_id: "c" }));
  const done = events.at(-1);
  const messageId = String(done?.data.messageId);
  const { approval } = done?.data.metadata as { approval: { toolCallId: string } };
  const resume = async (after: string | undefined, { app }: Pick<Engine, "app"> = h.engine) =>
    app.request(
      `${own}/chat/stream/${messageId}`,
      { headers: { Authorization: `Bearer ${h.agent.key}`, ...(after ? { "Last-Event-ID": after } : {}) } },
      { remoteAddress: "192.0.2.9" },
    );
  const decide = async (approved: boolean, { app }: Pick<Engine, "app"> = h.engine) => {
    const path = `/api/conversations/${h.agent.slug}%3Aweb%3Aapi-c/approvals/${approval.toolCallId}`;
    const asked = { ...headers, "Content-Type": "application/json" };
    const init = { method: "POST", headers: asked, body: JSON.stringify({ approved }) };
    expect((await app.request(path, init, { remoteAddress: "192.0.2.9" })).status).toBe(201);
  };
  /** Reads the stream to its end; says at any time whether it is over. */
  const follow = (response: Response) => {
    const state = { over: false, events: readEvents(response) };
    void state.events.then(() => {
      state.over = true;
    });
    return state;
  };
  return { h, own, headers, events, done, messageId, resume, decide, follow };
}

const textOf = (events: readonly { data: Record<string, unknown> }[]) =>
  events.map(({ data }) => data.text ?? "").join("");
const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

describe("a resumed stream of a turn that waits for a decision", () => {
  test("stays open, is kept alive, and continues with the result of an approval", async () => {
    const { h, events, done, resume, decide, follow } = await waitingTurn();
    const late = follow(await resume(done?.id));
    const whole = follow(await resume(undefined));
    await settled();
    await h.engine.closeRevoked();
    expect([late.over, whole.over]).toEqual([false, false]);
    await decide(true);
    const rest = await late.events;
    expect(textOf(rest)).toBe("It is late.");
    expect(rest.at(-1)?.event).toBe("done");
    expect((await whole.events).map(({ id }) => id)).toEqual([...events, ...rest].map(({ id }) => id));
  });

  test("is kept alive for as long as it waits, though the turn's own events are dropped", async () => {
    const { h, done, resume, decide, follow } = await waitingTurn();
    await h.services.database.query("update turns set finished_at = now() - interval '2 hours'", []);
    await h.clock.advance(61_000);
    await h.engine.closeRevoked();
    const response = await resume(done?.id);
    expect(response.status).toBe(200);
    const [kept, read] = response.body?.tee() ?? [];
    const quiet = readUntil(new Response(kept), (said) => said.split(": ping").length > 2);
    await h.clock.advance(25_000);
    expect((await quiet).text).toBe(": ping\n\n: ping\n\n");
    await decide(true);
    expect(textOf(await follow(new Response(read)).events)).toBe("It is late.");
  });

  test.each(["hears", "is deaf to"])("continues from another replica, which %s the one of the turn", async (hears) => {
    const { h, done, resume, decide, follow } = await waitingTurn();
    const { services } = h;
    const notify = hears === "hears" ? services.notify : localNotify(services.log);
    const other = createEngine({ ...services, notify, policies: new CurrentPolicies() });
    const stream = follow(await resume(done?.id, other));
    await settled();
    expect(stream.over).toBe(false);
    await decide(true);
    await eventually(async () => {
      await h.clock.advance(100);
      for (const engine of [h.engine, other]) await engine.closeRevoked();
      return stream.over;
    });
    expect(textOf(await stream.events)).toBe("It is late.");
  });

  test("is resumed behind events of the turn that went on elsewhere", async () => {
    const { h, done, resume, decide, follow } = await waitingTurn();
    const { services } = h;
    const other = createEngine({ ...services, notify: localNotify(services.log), policies: new CurrentPolicies() });
    const stream = follow(await resume(done?.id));
    await decide(true, other);
    const passUntil = async (state: { over: boolean }) =>
      eventually(async () => {
        await h.clock.advance(100);
        for (const engine of [h.engine, other]) await engine.closeRevoked();
        return state.over;
      });
    await passUntil(stream);
    const events = await stream.events;
    const again = follow(await resume(events[1]?.id));
    await passUntil(again);
    expect(await again.events).toEqual(events.slice(2));
  });

  test("continues after a refusal too", async () => {
    const { done, resume, decide, follow } = await waitingTurn();
    const stream = follow(await resume(done?.id));
    await decide(false);
    expect(textOf(await stream.events)).toBe("It is late.");
  });

  test.each([
    [
      "the user writes on",
      async ({ h }: Awaited<ReturnType<typeof waitingTurn>>) => {
        await h.complete("Never mind", { chat_id: "c" });
        await h.engine.tick();
      },
    ],
    [
      "the time to decide is over",
      async ({ h }: Awaited<ReturnType<typeof waitingTurn>>) => {
        await h.services.database.query("update tool_calls set expires_at = now() - interval '1 s'", []);
        await h.engine.tick();
      },
    ],
    [
      "the conversation is deleted",
      async ({ h, headers }: Awaited<ReturnType<typeof waitingTurn>>) => {
        await h.request(`/api/conversations/${h.agent.slug}%3Aweb%3Aapi-c`, { method: "DELETE", headers });
      },
    ],
  ])("ends when %s", async (_when, happens) => {
    const w = await waitingTurn();
    const stream = w.follow(await w.resume(w.done?.id));
    await happens(w);
    await w.h.engine.closeRevoked();
    expect(await stream.events).toEqual([]);
  });

  test("ends with the caller's leave, and at a stop of the server", async () => {
    const { h, own, headers, done, resume, follow } = await waitingTurn();
    const revoked = follow(await resume(done?.id));
    const json = { secrets: [{ key: "auth_api_key", value: "another-key-entirely" }] };
    await h.request(`${own}/secrets`, { method: "PUT", headers, json });
    await h.engine.closeRevoked();
    expect((await revoked.events).map(({ event }) => event)).toEqual(["error", "done"]);

    const stopped = await waitingTurn();
    const stream = stopped.follow(await stopped.resume(stopped.done?.id));
    await settled();
    await stopped.h.engine.stop(0);
    expect(await stream.events).toEqual([]);
  });

  test("a client has at most eight of them for a turn: a further one ends the oldest", async () => {
    const { done, resume, decide, follow } = await waitingTurn();
    const streams: ReturnType<typeof follow>[] = [];
    for (let n = 0; n < 9; n += 1) {
      streams.push(follow(await resume(done?.id)));
      await settled();
    }
    expect(streams.map(({ over }) => over)).toEqual([true, ...Array.from({ length: 8 }, () => false)]);
    await decide(true);
    for (const { events } of streams.slice(1)) expect(textOf(await events)).toBe("It is late.");
  });

  test("is not ended by an outage of the database, nor does one show behind the end of another turn", async () => {
    const { h, own, done, resume, decide, follow } = await waitingTurn();
    const plain = await readEvents(await h.native("Hello", { chat_id: "d" }));
    const { database } = h.services;
    const { query } = database;
    database.query = async (statement, parameters) => {
      if (statement.includes("left join") && statement.includes("= any(") && statement.includes("continues"))
        throw new EngineError("unavailable", "The database is unavailable");
      return (await query(statement, parameters)) as never;
    };
    const path = `${own}/chat/stream/${plain.at(-1)?.data.messageId}`;
    const again = await h.request(path, { headers: { Authorization: `Bearer ${h.agent.key}` } });
    expect(await readEvents(again)).toEqual(plain);
    const { events: exhausted } = follow(await resume(undefined));
    await settled();
    database.query = query;
    await decide(true);
    const rest = await exhausted;
    expect(rest.map(({ event }) => event)).not.toContain("error");
    expect(textOf(rest)).toBe("Hello.");
    expect(done?.event).toBe("done");
  });

  test("costs one statement every two seconds for all of them, and none once they have ended", async () => {
    const { h, done, resume } = await waitingTurn();
    const open = await Promise.all([1, 2, 3].map(async () => resume(done?.id)));
    await settled();
    let looks = 0;
    const { database } = h.services;
    const { query } = database;
    database.query = async (statement, parameters) => {
      if (statement.includes("left join") && statement.includes("continues")) looks += 1;
      return (await query(statement, parameters)) as never;
    };
    await h.engine.closeRevoked();
    expect(looks).toBe(1);
    for (const response of open) await response.body?.cancel();
    await settled();
    await h.engine.closeRevoked();
    expect(looks).toBe(1);
    database.query = query;
  });
});
