import fc from "fast-check";
import { expect, test } from "vitest";
import { type ChatEvent, createAgentEngine, StreamCutError } from "../../src/client/index.ts";
import { collect } from "./collect.ts";

const utf8 = new TextEncoder();

const done = 'id: t:2\nevent: done\ndata: {"conversationId":null,"messageId":null}\n\n';
const delta = (text: string) => `id: t:1\nevent: text-delta\ndata: ${JSON.stringify({ text })}\n\n`;

/** A client whose server answers with these pieces of a stream. */
function streaming(pieces: Uint8Array[], { type = "text/event-stream", status = 200, broken = false } = {}) {
  const answer: typeof fetch = async () => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else if (broken) controller.error(new TypeError("terminated"));
        else controller.close();
      },
    });
    return new Response(body, { status, headers: { "Content-Type": type } });
  };
  const engine = createAgentEngine({ baseUrl: "http://engine.test", fetch: answer });
  return engine.streamChat({ slug: "a", body: { messages: [] } });
}

const whole = (text: string) => [utf8.encode(text)];

test("comments are left out, and lines may end as they like", async () => {
  const text = `: ping\n\n${delta("a")}:\n\nretry: 5\n\n${delta("b")}${done}`;
  for (const wire of [text, text.replaceAll("\n", "\r\n")]) {
    const events = await collect(streaming(whole(wire)));
    expect(events.map(({ event }) => event)).toEqual(["text-delta", "text-delta", "done"]);
    expect(events[0]).toEqual({ id: "t:1", event: "text-delta", data: { text: "a" } });
  }
});

test("data may take several lines, and a refusal has no id", async () => {
  const events = await collect(streaming(whole(`data: {"text":\ndata: "a"}\nevent: text-delta\n\n${done}`)));
  expect(events[0]).toEqual({ id: "", event: "text-delta", data: { text: "a" } });
});

test("line separators inside a text are text", async () => {
  const [event] = await collect(streaming(whole(delta("a\u2028b\u2029c") + done)));
  expect(event?.data).toEqual({ text: "a\u2028b\u2029c" });
});

test("wherever the network cuts the bytes, the events are the same", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme" }), { maxLength: 5 }),
      fc.array(fc.nat(400), { maxLength: 8 }),
      fc.boolean(),
      async (texts, cuts, carriage) => {
        const wire = texts.map(delta).join(": ping\n\n") + done;
        const bytes = utf8.encode(carriage ? wire.replaceAll("\n", "\r\n") : wire);
        const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end));
        const events = await collect(streaming(pieces.filter(({ length }) => length > 0)));
        const expected = [...texts.map((text) => ({ text })), { conversationId: null, messageId: null }];
        expect(events.map(({ data }: ChatEvent) => data)).toEqual(expected);
      },
    ),
    { numRuns: 100 },
  );
});

test("a stream that ends or breaks before done is an error that says how far it got", async () => {
  for (const broken of [false, true]) {
    const events: ChatEvent[] = [];
    const reading = (async () => {
      for await (const event of streaming(whole(delta("a")), { broken })) events.push(event);
    })();
    const error = await reading.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StreamCutError);
    expect(error).toMatchObject({ lastEventId: "t:1" });
    expect(events).toHaveLength(1);
  }
});

test("an answer that is not the engine's is refused, whatever its status", async () => {
  const page = streaming(whole("<html>welcome</html>"), { type: "text/html" });
  await expect(page.next()).rejects.toThrow(/not Agent Engine's .*check baseUrl/);
  const proxy = streaming(whole("<html>bad gateway</html>"), { type: "text/html", status: 502 });
  await expect(proxy.next()).rejects.toMatchObject({
    status: 502,
    body: null,
    message: expect.stringContaining("502"),
  });
});
