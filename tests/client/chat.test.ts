import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { AgentEngineError, type ChatEvent, type ChatOptions, createChat, messageIdOf } from "../../src/client/index.ts";
import { type Cut, cuttingProxy, type Passed } from "../cutting-proxy.ts";
import { type ChatHarness, chatHarness, eventually } from "../features/chat/chat.ts";
import { finish, gate, reasoning, reply, scriptedModel, text, textDelta, toolCall } from "../scripted-model.ts";
import { serveAnother } from "../second-server.ts";
import { knowNoNames } from "../unknown-names.ts";
import { collect } from "./collect.ts";

const hello = { messages: [{ role: "user", content: "Hello" }] };
const stored = { ...hello, chat_id: "c" };

const textOf = (events: readonly ChatEvent[]) =>
  events.map(({ event, data }) => (event === "text-delta" ? data.text : "")).join("");
const kinds = (events: readonly ChatEvent[]) => events.map(({ event }) => event);
const calls = (passed: readonly Passed[]) => passed.map(({ method, status }) => `${method} ${status}`);
const keys = (passed: readonly Passed[]) => passed.map(({ headers }) => headers["idempotency-key"]);

/** Turns of eleven events: two steps, with reasoning, a tool and text. */
const wholeTurns = () =>
  scriptedModel((_call, index) =>
    index % 2 === 0
      ? { parts: [reasoning("Let me think"), text("One "), toolCall("c1", "nope", { a: 1 }), finish("tool-calls")] }
      : reply("two ", "three"),
  );

type CutOf = (index: number, passed: Passed) => Cut | Promise<Cut>;

/** A chat with an agent through a proxy that cuts connections. */
async function behindProxy(model: Parameters<typeof chatHarness>[0], cuts: Cut[] | CutOf) {
  const h = await chatHarness(model);
  const proxy = await cuttingProxy(await h.listen(), (passed, index) =>
    typeof cuts === "function" ? cuts(index, passed) : (cuts[index] ?? null),
  );
  const chat = createChat({ baseUrl: proxy.url, token: h.agent.key }, h.agent.slug);
  const lost: unknown[] = [];
  const options: ChatOptions = { onLost: (error) => void lost.push(error) };
  return { h, proxy, chat, lost, options };
}

/** The server has noticed by then that no client listens. */
const givenUp = (h: ChatHarness) =>
  eventually(async () => (await h.stored()).turns.every(({ status }) => status === "aborted"));

/** A port without a server. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

afterEach(() => vi.useRealTimers());

describe("a stream whose connection breaks", () => {
  test("continues after the last event, wherever it was cut, and no event comes twice", async () => {
    // A turn without output would be aborted, so no cut after the first event.
    const cuts = [null, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    let cut: Cut = null;
    const { h, proxy, chat, lost, options } = await behindProxy(wholeTurns(), () => {
      const now = cut;
      cut = null;
      return now;
    });
    const turns = [];
    let opened = 0;
    const onOpen = () => {
      opened += 1;
    };
    for (const [index, place] of cuts.entries()) {
      cut = place;
      const events = await collect(chat.stream({ ...hello, chat_id: `c${index}` }, { ...options, onOpen }));
      expect(events.map(({ id }) => id.replace(/.*:/, ""))).toEqual(events.map((_, at) => `${at + 1}`));
      if (place !== null) expect(proxy.passed.at(-1)?.headers["last-event-id"]).toBe(events[place - 1]?.id);
      turns.push(events.map(({ event, data }) => [event, event === "done" ? null : data]));
    }
    expect(turns[0]).toHaveLength(11);
    for (const turn of turns) expect(turn).toEqual(turns[0]);
    expect(calls(proxy.passed)).toEqual(["POST 200", ...cuts.slice(1).flatMap(() => ["POST 200", "GET 200"])]);
    expect(lost).toHaveLength(9);
    expect(opened).toBe(proxy.passed.length);
    expect((await h.stored()).messages).toHaveLength(20);
  });

  test("continues as often as needed, though each connection brings three events", async () => {
    const { proxy, chat, options } = await behindProxy(wholeTurns(), (index) => (index === 0 ? 2 : 3));
    const events = await collect(chat.stream(stored, options));
    expect(textOf(events)).toBe("One two three");
    expect(proxy.passed).toHaveLength(4);
  });

  test("continues without a chat_id too, and then sends no key", async () => {
    const { proxy, chat } = await behindProxy(wholeTurns(), [3, "request"]);
    expect(textOf(await collect(chat.stream(hello)))).toBe("One two three");
    expect(calls(proxy.passed)).toEqual(["POST 200", "GET null", "GET 200"]);
    expect(keys(proxy.passed)).toEqual([undefined, undefined, undefined]);
  });

  test("leaves out repeated events", async () => {
    const event = (n: number, type: string, data: object) =>
      `id: t:${n}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
    const all = [1, 2, 3].map((n) => event(n, "text-delta", { text: `${n}` })).join("");
    const answers = [
      all.slice(0, all.indexOf("id: t:3")),
      all + event(4, "done", { conversationId: null, messageId: "t" }),
    ];
    const fetch = async () => new Response(answers.shift(), { headers: { "Content-Type": "text/event-stream" } });
    const events = await collect(createChat({ baseUrl: "http://engine.test", fetch }, "a").stream(stored));
    expect(textOf(events)).toBe("123");
  });
});

describe("a message whose answer was lost", () => {
  test("is sent again with its key: the reply of the one turn comes", async () => {
    const cuts: Cut[] = ["request", null, "answer", null, 0, null];
    const { h, proxy, chat } = await behindProxy(
      scriptedModel(() => reply("Hello", "!")),
      (index) => cuts[index] ?? null,
    );
    for (const [index, chat_id] of ["a", "b", "c"].entries()) {
      const body = { ...hello, chat_id };
      expect(textOf(await collect(chat.stream(body)))).toBe("Hello!");
      const passed = proxy.passed.slice(index * 2);
      const [key] = keys(passed);
      expect(key).toMatch(/^[0-9a-f]{32}$/);
      expect(keys(passed)).toEqual([key, key]);
      expect(passed.map((one) => one.body)).toEqual([JSON.stringify(body), JSON.stringify(body)]);
    }
    expect(new Set(keys(proxy.passed)).size).toBe(3);
    expect((await h.stored()).messages).toHaveLength(6);
  });

  test("and whose stored reply breaks off too, is sent once more: nothing comes twice", async () => {
    const model = scriptedModel(() => reply("Hello", "!"));
    const { proxy, chat } = await behindProxy(model, ["answer", 1]);
    const events = await collect(chat.stream(stored));
    expect([textOf(events), kinds(events)]).toEqual(["Hello!", ["text-delta", "done"]]);
    expect(calls(proxy.passed)).toEqual(["POST 200", "POST 200", "POST 200"]);
    expect(model.calls).toHaveLength(1);
  });

  test("waits while the turn still runs, and then has the stored reply", async () => {
    const last = gate();
    const model = scriptedModel([{ parts: [textDelta("Hel"), last.promise, textDelta("lo"), finish()] }]);
    const h = await chatHarness(model);
    const { slug, key } = h.agent;
    const url = await h.listen();
    const mine = { headers: { "idempotency-key": "mine" } };
    const chat = createChat({ baseUrl: url, token: key }, slug);
    for await (const { event } of chat.stream(stored, mine)) if (event === "text-delta") break;
    let refused = 0;
    const counting: typeof fetch = async (...call) => {
      const response = await fetch(...call);
      if (response.status === 409 && ++refused === 1) last.open();
      return response;
    };
    const again = createChat({ baseUrl: url, token: key, fetch: counting }, slug);
    const lost: unknown[] = [];
    const events = await collect(again.stream(stored, { ...mine, onLost: (error) => void lost.push(error) }));
    expect([textOf(events), kinds(events).at(-1)]).toEqual(["Hello", "done"]);
    expect(refused).toBeGreaterThan(0);
    expect(lost).toEqual([]);
    expect(model.calls).toHaveLength(1);
  });

  test("is sent again when the turn was given up before its first output, but not for ever", async () => {
    const held = gate();
    const model = scriptedModel((_call, index) => (index === 0 ? { parts: [held.promise, finish()] } : reply("Now.")));
    const { h, proxy, chat } = await behindProxy(model, async (index, { method }) => {
      if (method === "GET") await givenUp(h);
      return index === 0 ? 1 : null;
    });
    const events = await collect(chat.stream(stored));
    expect(kinds(events)).toEqual(["step-start", "step-start", "text-delta", "step-finish", "done"]);
    expect(calls(proxy.passed).filter((call) => call !== "POST 409")).toEqual(["POST 200", "GET 200", "POST 200"]);
    expect((await h.stored()).messages).toHaveLength(2);

    const silent = scriptedModel(() => ({ parts: [held.promise, finish()] }));
    const hopeless = await behindProxy(silent, async (_, { method }) => {
      if (method === "GET") await givenUp(hopeless.h);
      return 1;
    });
    const ended = await collect(hopeless.chat.stream(hello)).catch((error: unknown) => error);
    expect(silent.calls).toHaveLength(4);
    expect(kinds(ended as ChatEvent[]).slice(-2)).toEqual(["error", "done"]);
    held.open();
  });

  test("is not sent again without a chat_id", async () => {
    const cut = await behindProxy(
      scriptedModel(() => reply("x")),
      [0],
    );
    await expect(collect(cut.chat.stream(hello))).rejects.toMatchObject({ name: "StreamCutError", lastEventId: null });
    const unanswered = await behindProxy(
      scriptedModel(() => reply("x")),
      ["answer"],
    );
    await expect(collect(unanswered.chat.stream(hello))).rejects.toThrow("fetch failed");
    expect([cut.proxy.passed.length, unanswered.proxy.passed.length]).toEqual([1, 1]);
  });
});

describe("failures that can't be repaired", () => {
  test("a refusal is thrown at once, and a server that is not there as well", async () => {
    const { proxy, chat, h } = await behindProxy(scriptedModel([]), []);
    const wrong = createChat({ baseUrl: proxy.url, token: "wrong" }, h.agent.slug);
    await expect(collect(wrong.stream(stored))).rejects.toMatchObject({ name: "AgentEngineError", status: 401 });
    await expect(collect(chat.stream({ ...stored, messages: [] }))).rejects.toBeInstanceOf(AgentEngineError);
    expect(proxy.passed).toHaveLength(2);
    knowNoNames();
    for (const baseUrl of [await closedPort(), "localhost:4000", "http://nowhere.invalid"]) {
      await expect(collect(createChat({ baseUrl }, "a").stream(stored))).rejects.toThrow("fetch failed");
    }
    await expect(collect(createChat({ baseUrl: proxy.url }, "..").stream(stored))).rejects.toThrow("slug cannot be ..");
  });

  test("a turn that is no longer kept: the error says where its reply may be", async () => {
    const { h, proxy, chat } = await behindProxy(wholeTurns(), [3]);
    const lost = async () => {
      await h.services.database.query("delete from turns", []);
      proxy.target = await serveAnother(h);
    };
    const events: ChatEvent[] = [];
    const reading = (async () => {
      for await (const event of chat.stream(stored)) {
        if (events.push(event) === 3) await lost();
      }
    })();
    await expect(reading).rejects.toThrow(/Turn not found.*may be read in the conversation's messages/);
    expect(events).toHaveLength(3);
    await expect(reading).rejects.toMatchObject({ name: "StreamCutError", lastEventId: events[2]?.id });
  });

  test("a restart of the server: the stream ends with an error that says so", async () => {
    const last = gate();
    const model = scriptedModel(() => ({ parts: [textDelta("Hel"), last.promise] }));
    const { h, proxy, chat } = await behindProxy(model, [2]);
    const events: ChatEvent[] = [];
    const reading = (async () => {
      for await (const event of chat.stream(stored)) {
        // The state after a crash: a running turn whose owner is gone.
        if (events.push(event) === 2) {
          proxy.target = await serveAnother(h);
          await h.services.database.query("update turns set lease_until = now() - interval '1 s'", []);
        }
      }
    })();
    const over = reading.then(() => true);
    while (!(await Promise.race([over, new Promise<false>((resolve) => setTimeout(resolve, 5, false))]))) {
      await h.clock.advance(500);
    }
    expect(kinds(events)).toEqual(["step-start", "text-delta", "error", "done"]);
    expect(events[2]?.data).toEqual({ message: expect.stringMatching(/gone|no longer kept/), code: "resume_lost" });
    last.open();
  });

  test("a server that stays away: after its patience it says how far it came", async () => {
    const { chat } = await behindProxy(wholeTurns(), (index) => (index === 0 ? 3 : "request"));
    const events: ChatEvent[] = [];
    const reading = (async () => {
      for await (const event of chat.stream(stored, { patienceMs: 1_000 })) events.push(event);
    })();
    await expect(reading).rejects.toMatchObject({ name: "StreamCutError", cause: expect.any(TypeError) });
    await expect(reading).rejects.toMatchObject({ lastEventId: events[2]?.id });
  });
});

describe("time", () => {
  /** A server whose two answers are given, without a network. */
  function silent(first: string, second: string) {
    const encode = (value: string) => new TextEncoder().encode(value);
    const asked: string[] = [];
    const call: typeof fetch = async (_url, init) => {
      asked.push(String(init?.method));
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(encode(asked.length === 1 ? first : second));
          if (asked.length > 1) controller.close();
          init?.signal?.addEventListener("abort", () => controller.error(init.signal?.reason));
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    };
    return { asked, chat: createChat({ baseUrl: "http://engine.test", fetch: call }, "a") };
  }
  const delta = 'id: t:1\nevent: text-delta\ndata: {"text":"a"}\n\n';
  const done = 'id: t:2\nevent: done\ndata: {"conversationId":null,"messageId":"t"}\n\n';

  test("a connection on which nothing comes for 40 seconds counts as broken", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { asked, chat } = silent(delta, done);
    const reading = collect(chat.stream(stored));
    await vi.advanceTimersByTimeAsync(39_000);
    expect(asked).toEqual(["POST"]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked).toEqual(["POST", "GET"]);
    expect(kinds(await reading)).toEqual(["text-delta", "done"]);
  });

  test("a server that lost its database tells it to come again: nobody sees that", async () => {
    const refused = 'event: error\ndata: {"message":"Resume it","code":"unavailable"}\n\n';
    const ended = 'event: done\ndata: {"conversationId":"c","messageId":null}\n\n';
    const answers = [delta, refused + ended, done];
    const headers = { "Content-Type": "text/event-stream" };
    const call: typeof fetch = async () => new Response(answers.shift(), { headers });
    const chat = createChat({ baseUrl: "http://engine.test", fetch: call }, "a");
    expect(kinds(await collect(chat.stream(stored)))).toEqual(["text-delta", "done"]);
    expect(answers).toEqual([]);
  });

  test("a slow reader is no silence", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { asked, chat } = silent(delta + done, "");
    const events: ChatEvent[] = [];
    const reading = (async () => {
      for await (const event of chat.stream(stored)) {
        events.push(event);
        await new Promise((resolve) => setTimeout(resolve, 90_000));
      }
    })();
    await vi.advanceTimersByTimeAsync(300_000);
    await reading;
    expect([kinds(events), asked]).toEqual([["text-delta", "done"], ["POST"]]);
  });

  test("tries come apart by 0.2 to 5 seconds, and end after a minute", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const times: number[] = [];
    const call: typeof fetch = async () => {
      times.push(performance.now());
      throw Object.assign(new TypeError("fetch failed"), {
        cause: Object.assign(new Error("x"), { code: "ECONNRESET" }),
      });
    };
    const reading = collect(createChat({ baseUrl: "http://engine.test", fetch: call }, "a").stream(stored));
    const ended = reading.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(await ended).toMatchObject({ message: "fetch failed" });
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(200);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(50_000);
  });

  /** A server that sends the beginning of a turn, and then only pings, for this long on each connection. */
  function pinging(first: string, lastsMs: number) {
    const asked: string[] = [];
    const call: typeof fetch = async (_url, init) => {
      asked.push(String(init?.method));
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(`: ping\n\n${asked.length === 1 ? first : ""}`));
          setTimeout(() => controller.close(), lastsMs);
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    };
    return { asked, chat: createChat({ baseUrl: "http://engine.test", fetch: call }, "a") };
  }

  test("a server that is there but cuts every connection is given up; a silent turn is not", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const cutting = pinging(delta, 10);
    const ended = collect(cutting.chat.stream(stored)).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(90_000);
    expect(await Promise.race([ended, "tried for ever"])).toMatchObject({ name: "StreamCutError", lastEventId: "t:1" });
    const silentTurn = pinging(delta, 30_000);
    const reading = collect(silentTurn.chat.stream(stored)).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_800_000);
    expect(silentTurn.asked.length).toBeGreaterThan(50);
    expect(await Promise.race([reading, "goes on"])).toBe("goes on");
  });

  test("an abort ends the waiting between two tries with its reason", async () => {
    const { chat } = await behindProxy(wholeTurns(), (index) => (index === 0 ? 3 : "request"));
    const stop = new AbortController();
    const options = { signal: stop.signal, onLost: () => setTimeout(() => stop.abort(new Error("enough")), 50) };
    await expect(collect(chat.stream(stored, options))).rejects.toThrow("enough");
  });
});

test("a turn is stopped, and what it has said is stored", async () => {
  const held = gate();
  const model = scriptedModel(() => ({ parts: [textDelta("Hel"), held.promise, finish()] }));
  const { h, chat } = await behindProxy(model, []);
  const events: ChatEvent[] = [];
  let turn = "";
  for await (const event of chat.stream(stored)) {
    events.push(event);
    turn = messageIdOf(event) ?? "";
    if (event.event === "text-delta") expect(await chat.stop(turn)).toBe(true);
  }
  expect(kinds(events)).toEqual(["step-start", "text-delta", "done"]);
  expect((await h.stored()).messages.at(-1)).toMatchObject({ content: "Hel", metadata: { stopped: "stop" } });
  expect(await chat.stop(turn)).toBe(false);
  await expect(chat.stop("nothing")).rejects.toMatchObject({ status: 404 });
  expect(messageIdOf({ id: "" })).toBeNull();
  expect(await chat.stop(messageIdOf({ id: "" }))).toBe(false);
});
