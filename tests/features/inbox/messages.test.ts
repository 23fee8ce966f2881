import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { auditLogs, conversations, inbox, optOuts } from "../../../src/db/schema.ts";
import { listMessages } from "../../../src/features/inbox/messages/read.ts";
import { eventually } from "../chat/chat.ts";
import { adaTarget, messaging, paragraphs } from "./sending.ts";

const blocked = {
  status: 403,
  json: { ok: false, error_code: 403, description: "Forbidden: bot was blocked by the user" },
};

/** An agent with messages of both directions. */
async function mailbox() {
  const h = await messaging();
  const path = `/api/instances/${h.agent.slug}/channels/telegram/messages`;
  const read = async (query = "", headers = h.agent.headers, of = path) => {
    const response = await h.request(`${of}${query}`, { headers });
    return { status: response.status, body: await response.json() };
  };
  const retry = async (id: string, headers = h.agent.headers, of = path) => {
    const response = await h.request(`${of}/${id}/retry`, { method: "POST", headers });
    return { status: response.status, body: await response.json() };
  };
  /** A received message, as the inbox stores it. */
  const receive = async (text: string, status = "pending", error: string | null = null) => {
    const [conversation] = await h.db.select().from(conversations);
    if (!conversation) throw new Error("There is no conversation");
    const id = newId();
    const seq = conversation.lastInboxSeq + 1;
    const payload = { text, files: [], senderName: "Ada", edits: null, isPrivate: true };
    const row = { agentId: h.agent.id, channel: "telegram", providerId: id, conversationId: conversation.id };
    await h.db.insert(inbox).values({ ...row, id, seq, sender: adaTarget, payload, status, error, attempts: 3 });
    await h.db.update(conversations).set({ lastInboxSeq: seq }).where(eq(conversations.id, conversation.id));
    return id;
  };
  return { ...h, path, read, retry, receive };
}

describe("the messages of a channel", () => {
  test("are listed with their fate, the newest first, by direction and status, in pages", async () => {
    const h = await mailbox();
    await h.answer("Hello");
    await h.allSent();
    h.telegram.fail("sendMessage", blocked);
    await h.say("You missed this");
    await h.settled((all) => all.at(-1)?.status === "failed");
    const cameId = await h.receive("A question", "failed", "The agent's budget of this month is spent");
    const { status, body } = await h.read();
    expect([status, body.total, body.limit, body.offset]).toEqual([200, 3, 50, 0]);
    expect(body.messages).toMatchObject([
      {
        id: cameId,
        direction: "in",
        status: "failed",
        peer: adaTarget,
        text: "A question",
        attempts: 3,
        error: "The agent's budget of this month is spent",
        mayBeRepeated: false,
        sentAt: null,
        turnId: null,
        conversationId: "support:telegram:4711",
      },
      {
        direction: "out",
        status: "failed",
        peer: adaTarget,
        text: "You missed this",
        attempts: 1,
        error: expect.stringContaining("blocked by the user"),
        conversationId: null,
        sentAt: null,
      },
      {
        direction: "out",
        status: "sent",
        text: "Re: Hello",
        error: null,
        sentAt: "2026-01-01T00:00:00.000Z",
        conversationId: "support:telegram:4711",
      },
    ]);
    const ids = async (query: string) =>
      (await h.read(query)).body.messages.map(({ text }: { text: string }) => text) as string[];
    expect(await ids("?direction=in")).toEqual(["A question"]);
    expect(await ids("?direction=out&status=sent")).toEqual(["Re: Hello"]);
    expect(await ids("?status=failed")).toEqual(["A question", "You missed this"]);
    expect(await ids("?limit=1&offset=1")).toEqual(["You missed this"]);
    expect((await h.read("?limit=1&offset=1")).body).toMatchObject({ total: 3, limit: 1, offset: 1 });
    expect((await h.read("?status=lost")).status).toBe(400);
    expect((await h.read("?limit=201")).status).toBe(400);
  });

  test("are those of this agent and channel only, for everyone who may see channels; texts for who reads conversations", async () => {
    const h = await mailbox();
    const other = await h.addAgent({ slug: "other" });
    await h.turnOn(other.id, "telegram");
    await h.say("Ours");
    await h.say("Theirs", { agentId: other.id });
    await h.allSent();
    const viewer = await h.as("viewer");
    expect((await h.read("", viewer)).body.messages).toMatchObject([{ text: "Ours" }]);
    expect((await h.read("", viewer, "/api/instances/support/channels/slack/messages")).body.messages).toEqual([]);
    expect((await h.read("", viewer, "/api/instances/support/channels/fax/messages")).status).toBe(404);
    expect((await h.read("", viewer, "/api/instances/nobody/channels/telegram/messages")).status).toBe(404);
    const elsewhere = await h.createOrganization("globex");
    expect((await h.read("", await h.as("owner", { organization: elsewhere }))).status).toBe(404);

    const ctx = {
      ...h.services,
      db: h.db,
      actor: { type: "system", id: null, name: "test" },
      membership: {
        organizationId: h.organization.id,
        organizationSlug: "acme",
        first: true,
        role: "viewer",
        permissions: new Set(["agent.channel:read"]),
        workspaceIds: null,
      },
      request: { id: newId(), ip: "" },
    } as const;
    const page = await listMessages(
      { ...ctx, membership: { ...ctx.membership, role: "owner" } } as never,
      "support",
      "telegram",
      {},
    );
    expect(page.messages).toMatchObject([{ text: null, peer: adaTarget }]);
  });
});

describe("a message that failed", () => {
  test("is sent again by a person, with the rest of its reply", async () => {
    const h = await mailbox();
    h.telegram.fail("sendMessage", blocked);
    await h.answer(paragraphs(9));
    const failed = await h.settled((all) => all.every((row) => row.status === "failed"));
    const { status, body } = await h.retry(failed[0]?.id ?? "");
    expect([status, body.message]).toMatchObject([200, { status: "pending", attempts: 0, error: null }]);
    const sent = await h.allSent();
    expect(sent.map(({ part }) => part)).toEqual([0, 1, 2]);
    expect(h.telegram.sent).toHaveLength(3);
    const log = await h.db.select().from(auditLogs).where(eq(auditLogs.action, "agent.channel.message.retry"));
    expect(log).toMatchObject([{ target: "support", summary: { channel: "telegram", direction: "out" } }]);
    // A single retry is enough.
    const again = await h.retry(failed[0]?.id ?? "");
    expect([again.status, again.body.message]).toEqual([
      409,
      "Only a message that failed can be tried again: this one is sent",
    ]);
  });

  test("is answered again as if it came now", async () => {
    const h = await mailbox();
    await h.answer("Hello");
    const id = await h.receive("A question", "failed", "No");
    await h.receive("Later", "done");
    const { status, body } = await h.retry(id);
    expect([status, body.message]).toMatchObject([200, { direction: "in", attempts: 0, error: null }]);
    const [conversation] = await h.db.select().from(conversations);
    const [row] = await h.db.select().from(inbox).where(eq(inbox.id, id));
    expect(row).toMatchObject({ seq: 3, restarts: 0 });
    expect(conversation?.lastInboxSeq).toBe(3);
    await eventually(async () => {
      const [answered] = await h.db.select().from(inbox).where(eq(inbox.id, id));
      return answered?.status === "done" && answered.turnId !== null;
    });
  });

  test("is refused for a message of a person who stopped the agent since", async () => {
    const h = await mailbox();
    await h.answer("Hello");
    const id = await h.receive("Why?", "failed", "Model provider error");
    await h.db.insert(optOuts).values({ agentId: h.agent.id, channel: "telegram", sender: adaTarget });
    const { status, body } = await h.retry(id);
    expect([status, body.message]).toEqual([409, "The person stopped the agent, and has not resumed it"]);
    expect((await h.db.select().from(inbox).where(eq(inbox.id, id)))[0]?.status).toBe("failed");
  });

  test("is not tried again by a viewer, and not found elsewhere", async () => {
    const h = await mailbox();
    const other = await h.addAgent({ slug: "other" });
    h.telegram.fail("sendMessage", blocked);
    await h.say("No");
    const [row] = await h.settled(([part]) => part?.status === "failed");
    const id = row?.id ?? "";
    expect((await h.retry(id, await h.as("viewer"))).status).toBe(403);
    expect((await h.retry(id, other.headers, "/api/instances/other/channels/telegram/messages")).status).toBe(404);
    expect((await h.retry(id, h.agent.headers, "/api/instances/support/channels/slack/messages")).status).toBe(404);
    expect((await h.retry("x", h.agent.headers)).status).toBe(404);
    expect((await h.retry(newId(), h.agent.headers)).status).toBe(404);
    const elsewhere = await h.createOrganization("globex");
    expect((await h.retry(id, await h.as("owner", { organization: elsewhere }))).status).toBe(404);
    expect((await h.rows())[0]?.status).toBe("failed");
  });
});

test("messages end with their conversation: nothing of them stays to be read", async () => {
  const h = await mailbox();
  await h.answer("Hello");
  await h.allSent();
  await h.receive("A secret", "done");
  const ref = encodeURIComponent("support:telegram:4711");
  const deleted = await h.request(`/api/conversations/${ref}`, { method: "DELETE", headers: h.agent.headers });
  expect(deleted.status).toBe(200);
  expect((await h.read()).body).toMatchObject({ messages: [], total: 0 });
});
