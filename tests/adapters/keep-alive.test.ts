import { expect, test } from "vitest";
import { createModels } from "../../src/adapters/models/index.ts";
import { TestClock } from "../clock.ts";
import { done, event, say } from "../fake-provider.ts";
import { runTurn, turnInput } from "../turn/input.ts";
import { specs } from "./recorded.ts";

test.each([
  ["comments", ": keep-alive\n\n"],
  ["chunks that say nothing", event({ choices: [{ index: 0, delta: {}, finish_reason: null }] })],
])("a provider that sends %s while it works is no silent one", async (_what, sign) => {
  const clock = new TestClock();
  const pieces = [sign, sign, sign, ...say("Hi."), ...done()].values();
  // Each piece comes long after the one before was read.
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value } = pieces.next();
        if (value === undefined) return controller.close();
        await clock.advance(input.limits.silenceMs - 1);
        controller.enqueue(new TextEncoder().encode(value));
      },
    },
    { highWaterMark: 0 },
  );
  const fetch = async () => new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  const input = turnInput(await createModels({ fetch }).resolve(specs["openai-compatible"]));
  const { outcome } = await runTurn(input, { clock });
  expect(outcome).toMatchObject({ status: "done", text: "Hi." });
});
