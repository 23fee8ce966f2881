import { eq, isNotNull } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import type { EgressRequest } from "../../../src/core/ports.ts";
import { outbox, toolCalls, turns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { forTest } from "../../adapters/messengers/accounts.ts";
import { telegramServer } from "../../messengers/telegram-server.ts";
import { finish, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { messengerHarness, telegramFields } from "./messengers.ts";

const waits = "Somebody has to approve this first. You get the answer here as soon as it is decided.";

/** An agent on Telegram whose payments need an approval. */
async function paying({ fails = false } = {}) {
  const asked: EgressRequest[] = [];
  const egress = {
    request: async (request: EgressRequest) => {
      asked.push(request);
      return { status: 200, headers: {}, body: "paid", url: request.url };
    },
  };
  const model = scriptedModel(({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role !== "tool") {
      const call = toolCall("call_1", "httpRequest", { url: "https://shop.example/pay", method: "POST" });
      return { parts: [...text("I will pay."), ...call, finish("tool-calls")] };
    }
    if (fails) return { fail: new Error("The model is away") };
    return reply(JSON.stringify(last.content).includes("refused") ? "Not paid." : "Paid.");
  });
  const { botToken } = telegramFields;
  const bot = { id: 1000, is_bot: true, first_name: "Acme", username: "acme_bot" };
  const telegram = await forTest(telegramServer({ token: botToken, bot }));
  const h = await messengerHarness({ model, egress, bases: { telegram: telegram.base }, agent: { debounceMs: 0 } });
  const { db } = h.services.database;
  const json = { enabled: ["httpRequest"], needsApproval: ["httpRequest"] };
  const { slug, headers } = h.agent;
  expect((await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json })).status).toBe(200);
  const texts = () => telegram.sent.map((sent) => sent.text);
  return {
    ...h,
    asked,
    model,
    db,
    telegram,
    texts,
    /** Waits until the person got this many messages, all stored as sent; `engines` do their upkeep meanwhile. */
    told: (count: number, engines = [h.engine]) =>
      eventually(async () => {
        await Promise.all(engines.map((engine) => engine.tick()));
        const sent = await db.select().from(outbox);
        return texts().length >= count && sent.every(({ status }) => status === "sent");
      }),
    decide: async (approved: boolean) => {
      const [call] = await db.select().from(toolCalls).where(isNotNull(toolCalls.args));
      const ref = encodeURIComponent(`${slug}:telegram:42`);
      const path = `/api/conversations/${ref}/approvals/${call?.toolCallId}`;
      const response = await h.request(path, { method: "POST", headers, json: { approved } });
      expect(response.status).toBe(201);
    },
  };
}

describe("a messenger's turn that a person has to approve", () => {
  test("tells the person who asked, and the result once it is decided", async () => {
    const h = await paying();
    await h.say("Please pay");
    await h.told(1);
    expect(h.texts()).toEqual([`I will pay.\n\n${waits}`]);
    expect(h.asked).toEqual([]);
    await h.decide(true);
    await h.told(2);
    expect(h.texts()[1]).toBe("Paid.");
    expect(h.asked).toHaveLength(1);
    const ended = await h.db.select().from(turns).orderBy(turns.createdAt);
    expect(ended.map(({ status }) => status)).toEqual(["done", "done"]);
    const sent = await h.db.select().from(outbox).orderBy(outbox.createdAt);
    expect(sent.map(({ turnId, status }) => [turnId, status])).toEqual(ended.map(({ id }) => [id, "sent"]));
  });

  test("that is refused says so", async () => {
    const h = await paying();
    await h.say("Please pay");
    await h.told(1);
    await h.decide(false);
    await h.told(2);
    expect(h.texts()[1]).toBe("Not paid.");
    expect(h.asked).toEqual([]);
  });

  test("continues once after a restart, however many replicas there are, and is reported once", async () => {
    const h = await paying();
    await h.say("Please pay");
    await h.told(1);
    // The decision is stored, but the stopped engine does not continue the turn.
    await h.engine.stop(0);
    await h.decide(true);
    const others = [createEngine(h.services), createEngine(h.services)];
    await h.told(2, others);
    for (let n = 0; n < 3; n += 1) await Promise.all(others.map((other) => other.tick()));
    await eventually(async () =>
      (await h.db.select().from(outbox)).every(({ status, attempts }) => status === "sent" && attempts === 1),
    );
    expect(h.texts().slice(1)).toEqual(["Paid."]);
    expect(h.asked).toHaveLength(1);
    for (const other of others) await other.stop(0);
  });

  test("that was lost with its process after the decision tells that, once", async () => {
    const h = await paying();
    await h.say("Please pay");
    await h.told(1);
    await h.engine.stop(0);
    const [waiting] = await h.db.select().from(turns);
    if (!waiting) throw new Error("There is no turn");
    const lost = { id: newId(), continues: waiting.id, status: "lost" as const, ticket: (waiting.ticket ?? 0) + 1 };
    const { suspended: _, ...row } = waiting;
    await h.db.insert(turns).values({ ...row, ...lost, createdAt: new Date() });
    const others = [createEngine(h.services), createEngine(h.services)];
    await h.told(2, others);
    for (let n = 0; n < 2; n += 1) {
      await h.clock.jump(60_000);
      await Promise.all(others.map((other) => other.tick()));
    }
    expect(h.texts().slice(1)).toEqual(["Sorry, I can't answer at the moment. Please try again later."]);
    for (const other of others) await other.stop(0);
  });

  test("that fails after the decision tells that, since it is not taken again", async () => {
    const h = await paying({ fails: true });
    await h.say("Please pay");
    await h.told(1);
    await h.decide(true);
    await h.told(2);
    expect(h.texts()[1]).toBe("Sorry, I can't answer at the moment. Please try again later.");
    const [last] = await h.db.select().from(turns).where(eq(turns.status, "failed"));
    expect(last?.continues).not.toBe(null);
  });
});
