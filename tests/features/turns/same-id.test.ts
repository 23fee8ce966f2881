import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, messages } from "../../../src/db/schema.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { chatHarness } from "../chat/chat.ts";

// An agent `room`'s playground and the Room of an agent `playground` give their conversations the same ids.
const ref = "room:playground:7";

test("a turn never joins a conversation of another agent, whose id is the same", async () => {
  const model = scriptedModel(() => reply("Hello"));
  const h = await chatHarness(model, { slug: "room" });
  const other = await h.anotherAgent({ slug: "playground" });
  const { db } = h.services.database;
  const [found] = await db.select().from(agents).where(eq(agents.slug, "playground"));
  const { id: agentId = "", organizationId = "" } = found ?? {};
  const id = newId();
  const state = { secret: "of the Room" };
  await db.insert(conversations).values({
    id,
    agentId,
    organizationId,
    ref,
    channel: "room",
    channelId: "7",
    subject: `conversation:${ref}`,
    source: "room",
    state,
  });
  await db.insert(messages).values({ id: newId(), conversationId: id, seq: 1, role: "user", content: "An invoice" });
  const before = await db.select().from(conversations);

  const json = { messages: [{ role: "user", content: "Hi" }], chat_id: "7" };
  const path = "/api/instances/room/playground/stream";
  const answer = await h.request(path, { method: "POST", headers: h.agent.headers, json });
  expect(await answer.text()).toContain("event: error");
  expect(model.calls).toEqual([]);
  expect(await db.select().from(conversations)).toEqual(before);
  expect(other.slug).toBe("playground");
});
