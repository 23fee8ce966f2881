import { describe, expect, test } from "vitest";
import { createAsk } from "../../../src/features/handoff/ask.ts";
import type { ToolContext, TurnEvent } from "../../../src/turn/types.ts";
import { harness } from "../../harness.ts";
import { reply, type ScriptStep, scriptedModel } from "../../scripted-model.ts";
import { toolContext } from "../../turn/input.ts";
import { ownTurns } from "../../turns.ts";

/** Calls the door between agents directly, and collects the events for the asker's turn. */
async function door(step: ScriptStep) {
  const model = scriptedModel(() => step);
  const h = await harness({ model });
  await h.agent({ slug: "helper" });
  const ask = createAsk(h.services, ownTurns(h.services));
  const told: TurnEvent[] = [];
  const { id: organizationId, workspaceId } = h.organization;
  const asker = { id: "019a0000-0000-7000-8000-000000000000", slug: "caller", organizationId, workspaceId };
  const question = (context: Partial<ToolContext> = {}) =>
    ask({
      asker,
      slug: "helper",
      message: "Hi",
      thread: null,
      context: toolContext({ emit: (event) => told.push(event), ...context }),
    });
  return { ...h, model, told, question };
}

const handoff = {
  type: "handoff",
  id: "call-1",
  agent: "helper",
  conversationId: expect.stringMatching(/^helper:agent:caller:[0-9a-f-]{36}$/),
};

describe("a handoff", () => {
  test("is reported at its start and at its end", async () => {
    const h = await door(reply("Yes."));
    expect(await h.question()).toBe("Yes.");
    expect(h.told).toEqual([
      { ...handoff, phase: "start" },
      { ...handoff, phase: "end", ok: true, durationMs: 0 },
    ]);
  });

  test("that fails, or takes too long, has an end that says so", async () => {
    const failing = await door({ fail: new Error("no") });
    await expect(failing.question()).rejects.toThrow("The agent helper could not answer: Model provider error");
    expect(failing.told).toMatchObject([{ phase: "start" }, { phase: "end", ok: false }]);
    const slow = await door({ opens: new Promise(() => {}) });
    const asked = expect(slow.question()).rejects.toThrow("The agent helper did not answer within 60 s");
    await slow.model.called(1);
    await slow.clock.advance(60_000);
    await asked;
    expect(slow.told.at(-1)).toEqual({ ...handoff, phase: "end", ok: false, durationMs: 60_000 });
  });

  test("ends at once with the call: later reports reach no reader", async () => {
    const h = await door({ opens: new Promise(() => {}) });
    const call = new AbortController();
    const asked = h.question({ signal: call.signal });
    asked.catch(() => {});
    await h.model.called(1);
    call.abort();
    expect(h.told.at(-1)).toMatchObject({ phase: "end", ok: false });
    await expect(asked).rejects.toThrow();
    expect(h.told).toHaveLength(2);
  });

  test("is none where no reader asks for it", async () => {
    const h = await door(reply("Yes."));
    const over = AbortSignal.abort();
    await expect(h.question({ signal: over })).rejects.toThrow();
    const { origin } = toolContext();
    await expect(h.question({ origin: { ...origin, depth: 1 } })).rejects.toThrow(
      "The agent helper could not answer: Who was asked can't ask another agent",
    );
    h.services.database.query = () => Promise.reject(new Error("relation agents has a secret column"));
    await expect(h.question()).rejects.toThrow("The agent helper could not answer: Internal server error");
    expect(h.told.filter((event) => event.type === "handoff" && event.phase === "start")).toHaveLength(1);
    expect(h.model.calls).toEqual([]);
  });
});
