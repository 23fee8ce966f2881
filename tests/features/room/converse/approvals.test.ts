import { expect, test } from "vitest";
import { outbox, toolCalls } from "../../../../src/db/schema.ts";
import { finish, reply, text, toolCall } from "../../../scripted-model.ts";
import { eventually } from "../../chat/chat.ts";
import { answering, matching } from "../match/matching.ts";

test("an event's turn that needs an approval says so at its destination, and continues there once it is decided", async () => {
  const order = {
    parts: [
      ...text("I will order."),
      ...toolCall("c1", "httpRequest", { url: "https://shop.test/" }),
      finish("tool-calls"),
    ],
  };
  const h = await matching(answering([reply("yes")], [order, reply("Nobody allowed it, so I did not order.")]));
  await h.change("/tools", { enabled: ["httpRequest"], needsApproval: ["httpRequest"] });
  await h.define({ outboundChannel: "telegram", outboundTarget: "42" });
  const { conversationRef, reason } = await h.bring({ stock: 0 });
  expect(reason).toBeNull();
  const bodies = async () => (await h.sent()).map(({ target, body }) => `${target}: ${body}`);
  expect(await bodies()).toEqual([expect.stringMatching(/^42: I will order\.\n\nSomebody has to approve this first/)]);
  const [call] = await h.db.select().from(toolCalls);
  const path = `/api/conversations/${encodeURIComponent(conversationRef ?? "")}/approvals/${call?.toolCallId}`;
  const decided = await h.request(path, { method: "POST", headers: h.agent.headers, json: { approved: false } });
  expect(decided.status).toBe(201);
  await eventually(async () => (await bodies()).length === 2);
  expect((await bodies())[1]).toBe("42: Nobody allowed it, so I did not order.");
  expect((await h.turns()).map(({ status }) => status)).toEqual(["done", "done"]);
});

test("an event shows why the reply of its conversation was not delivered, until it was", async () => {
  const h = await matching(answering([reply("yes")], [reply("Order 7 is on its way.")]));
  await h.define({ outboundChannel: "telegram", outboundTarget: "42" });
  const { id } = await h.bring({ n: 7 });
  const shown = async () => {
    const answer = await h.request(`/api/instances/${h.slug}/room/events/${id}`, { headers: h.agent.headers });
    return ((await answer.json()) as { event: { outcome: string; reason: string | null } }).event;
  };
  await h.db.update(outbox).set({ status: "failed", error: "Telegram refused it" });
  expect(await shown()).toMatchObject({
    outcome: "conversation",
    reason: "Not delivered on telegram: Telegram refused it",
  });
  await h.db.update(outbox).set({ status: "sent", error: null });
  expect(await shown()).toMatchObject({ reason: null });
});
