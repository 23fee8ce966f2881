import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/core/ports.ts";
import { TestClock } from "../clock.ts";
import { drop, type Reply, startFakeProvider } from "../fake-provider.ts";
import { reply, scriptedModel } from "../scripted-model.ts";
import { onlyModel, runTurn, streamedText, turnInput } from "../turn/input.ts";
import { inWords } from "./read-step.ts";
import type { RemoteProvider } from "./recorded.ts";
import { cutAnswer, modelAt, wires } from "./wires.ts";

const failed = { code: "provider-failed", message: "Model provider error" };
const limited = { code: "rate-limited", message: "Model provider is rate limited", retryAfterSeconds: 7 };
const late = { code: "provider-timeout", message: "Model provider timed out" };

const page = { "Content-Type": "text/html; charset=utf-8" };
const html = "<html><body>Please sign in</body></html>";

/** Ends pauses between attempts at once, and lets no time-out pass. */
const hurried: Clock = {
  now: () => 0,
  after(ms, fn) {
    const timer = ms <= 10_000 ? setImmediate(fn) : undefined;
    return () => clearImmediate(timer);
  },
};

describe.each(Object.keys(wires) as RemoteProvider[])("%s", (name) => {
  const { refusal, overloaded, passing } = wires[name];
  const refused = (status: number, message: string, headers = {}): Reply => ({
    status,
    headers,
    body: JSON.stringify(refusal(status, message)),
  });

  interface Ending {
    what: string;
    reply: (cut: Awaited<ReturnType<typeof cutAnswer>>) => Reply;
    failure?: object;
    /** The number of requests to the provider. */
    asked?: number;
    logged: string;
    /** The text that reached the caller before. */
    said?: string;
  }

  const half = "In Zürich it is";
  const ending: Ending[] = [
    { what: "a 400", reply: () => refused(400, "conversation too long"), logged: "conversation too long" },
    { what: "a 401", reply: () => refused(401, "no such key"), logged: "no such key" },
    { what: "a 404", reply: () => refused(404, "no such model"), logged: "no such model" },
    {
      what: "a 429",
      reply: () => refused(429, "slow down", { "Retry-After": "7" }),
      failure: limited,
      asked: 3,
      logged: "slow down",
    },
    { what: "a 500", reply: () => refused(500, "it broke"), asked: 3, logged: "it broke" },
    { what: "a 503", reply: () => refused(503, "no room"), asked: 3, logged: "no room" },
    { what: "a 529", reply: () => refused(529, "no room"), asked: 3, logged: "no room" },
    { what: "a redirect", reply: () => ({ status: 307, headers: { Location: "http://127.0.0.1:1/" } }), logged: "307" },
    { what: "a page with 200", reply: () => ({ status: 200, headers: page, body: html }), logged: "Please sign in" },
    {
      what: "an error body with 200",
      reply: () => refused(200, "not today"),
      // Ollama's is read as an error event of its stream, which may be temporary.
      asked: name === "ollama" ? 3 : 1,
      logged: "not today",
    },
    { what: "an empty stream", reply: () => ({ stream: [] }), logged: "finish reason" },
    { what: "a stream that ends after its beginning", reply: ({ begun }) => ({ stream: [begun] }), logged: "finish" },
    {
      what: "a stream that ends after its first words",
      reply: (cut) => ({ stream: [cut.half] }),
      logged: "finish reason",
      said: half,
    },
    {
      what: "an error as the first event",
      reply: () => ({ stream: [overloaded] }),
      asked: passing ? 3 : 1,
      logged: "overloaded now",
    },
    {
      what: "an error before the first words",
      reply: ({ begun }) => ({ stream: [begun, overloaded] }),
      asked: passing ? 3 : 1,
      logged: "overloaded now",
    },
    {
      what: "an error after the first words",
      reply: (cut) => ({ stream: [cut.half, overloaded] }),
      logged: "overloaded now",
      said: half,
    },
    {
      what: "a socket dropped before the first words",
      reply: ({ begun }) => ({ stream: [begun || ": hello\n\n", drop] }),
      asked: 3,
      logged: "",
    },
    {
      what: "a socket dropped after the first words",
      reply: (cut) => ({ stream: [cut.half, drop] }),
      logged: "",
      said: half,
    },
    { what: "a first event that is no JSON", reply: () => ({ stream: ['data: {"half\n\n'] }), logged: "JSON" },
    {
      what: "a later event that is no JSON",
      reply: ({ broken }) => ({ stream: [broken] }),
      logged: "JSON",
      said: half,
    },
  ];

  test.each(ending)("$what ends as one failure, never as a reply", async (ending) => {
    const { reply, failure = failed, asked = 1, logged, said = "" } = ending;
    const provider = await startFakeProvider(reply(await cutAnswer(name)));
    const { events, outcome } = await runTurn(turnInput(await modelAt(name, provider.url)), { clock: hurried });

    expect(outcome).toMatchObject({ status: "failed", failure, text: said });
    if (outcome.status !== "failed") return;
    expect(inWords(outcome.failure.cause)).toContain(logged);
    expect(outcome.failure.message).not.toContain(logged || "socket");
    expect(streamedText(events)).toBe(said);
    expect(events.filter(({ type }) => type === "step-finish")).toEqual([]);
    expect(provider.exchanges).toHaveLength(asked);
  });

  test.each(["no answer", "no first words", "no further words"])("%s for too long is a time-out", async (what) => {
    const { begun, half } = await cutAnswer(name);
    const silent = new Promise<never>(() => {});
    const provider = await startFakeProvider(
      what === "no answer" ? "hang" : { stream: [what === "no first words" ? begun || ": hello\n\n" : half, silent] },
    );
    const clock = new TestClock();
    const heard = Promise.withResolvers<void>();
    const running = runTurn(turnInput(await modelAt(name, provider.url)), {
      clock,
      onEvent: ({ type }) => type === "text-delta" && heard.resolve(),
    });
    if (what === "no further words") await heard.promise;
    while (provider.exchanges.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(90_000);
    const { outcome } = await running;
    expect(outcome).toMatchObject({ status: "failed", failure: late });
    expect(provider.exchanges).toHaveLength(1);
    await provider.exchanges[0]?.closed;
  });

  test("after a temporary refusal the next response counts; after first output there is no retry", async () => {
    const { half } = await cutAnswer(name);
    const provider = await startFakeProvider(refused(503, "no room"), { stream: [half, drop] });
    const { outcome } = await runTurn(turnInput(await modelAt(name, provider.url)), { clock: hurried });
    expect(outcome.text).toBe("In Zürich it is");
    expect(provider.exchanges).toHaveLength(2);
  });

  test("another model answers for a provider that fails, before its first words and after no refusal of the request", async () => {
    const { begun, half } = await cutAnswer(name);
    const isReplaced = async (answer: Reply) => {
      const provider = await startFakeProvider(answer);
      const [first] = onlyModel({ provider: name, model: "first" }, await modelAt(name, provider.url));
      const [second] = onlyModel({ provider: name, model: "second" }, scriptedModel([reply("from the second")]));
      const { outcome } = await runTurn(turnInput([first, second]), { clock: hurried });
      expect(provider.exchanges).toHaveLength(1);
      return outcome.text === "from the second";
    };
    for (const status of [401, 403, 404, 408, 429, 500, 503, 529]) {
      expect([status, await isReplaced(refused(status, "no"))]).toEqual([status, true]);
    }
    for (const status of [400, 402, 409, 413, 422]) {
      expect([status, await isReplaced(refused(status, "no"))]).toEqual([status, false]);
    }
    expect(await isReplaced({ stream: [begun || ": hello\n\n", drop] })).toBe(true);
    expect(await isReplaced({ stream: [half, drop] })).toBe(false);
  });
});

test("google sends the time to wait in the body", async () => {
  const error = {
    code: 429,
    message: "You exceeded your current quota",
    status: "RESOURCE_EXHAUSTED",
    details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.2s" }],
  };
  const provider = await startFakeProvider({ status: 429, body: JSON.stringify({ error }) });
  const { outcome } = await runTurn(turnInput(await modelAt("google", provider.url)), { clock: hurried });
  expect(outcome).toMatchObject({ failure: { ...limited, retryAfterSeconds: 35 } });
  if (outcome.status === "failed") expect(inWords(outcome.failure.cause)).toContain("current quota");
  // A turn doesn't wait that long.
  expect(provider.exchanges).toHaveLength(1);
});
