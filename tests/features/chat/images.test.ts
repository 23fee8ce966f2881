import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, files } from "../../../src/db/schema.ts";
import { storeFile } from "../../../src/features/files/index.ts";
import { finish, gate, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { ownTurns, takeOwnTurn } from "../../turns.ts";
import { chatHarness } from "./chat.ts";

const png = Uint8Array.from(`\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR${"\0".repeat(17)}`, (c) => c.charCodeAt(0));

test("pictures that came with a message reach the model and are listed with it, also over an approval", async () => {
  const model = scriptedModel([
    reply("Hello."),
    { parts: [...text("A moment."), ...toolCall("t", "currentTime"), finish("tool-calls")] },
    reply("A cat."),
    reply("It was a cat."),
  ]);
  const h = await chatHarness(model, { attachmentsEnabled: true });
  const { headers, slug } = h.agent;
  const json = { enabled: ["currentTime"], needsApproval: ["currentTime"] };
  await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json });
  const ref = `${slug}:web:api-c`;
  await h.complete("Hello", { chat_id: "c" });
  const [conversation] = (await h.stored()).conversations;
  const [agent] = await h.services.database.db.select({ id: agents.id }).from(agents);
  const inbound = { agent: { id: agent?.id ?? "" }, conversation: { id: conversation?.id ?? "" } };
  const store = (name: string, mime: string, bytes: Uint8Array<ArrayBuffer>) =>
    storeFile(h.services, { ...inbound, name, mime, bytes });
  const picture = await store("cat.png", "image/png", png);
  const note = await store("note.txt", "text/plain", new TextEncoder().encode("meow"));

  const turn = await takeOwnTurn(ownTurns(h.services), slug, {
    door: "inbox",
    origin: { channel: "web", channelId: "api-c", source: "user", depth: 0, subject: "web:ada" },
    ref,
    stored: true,
    input: { history: [], fresh: ["Look", "What is it?"], fileIds: [picture.id, note.id] },
    rule: "always-finish",
    requestId: newId(),
    throttle: null,
  });
  const outcome = await turn.ended;
  if (outcome.status !== "approval") throw new Error("The turn does not wait");

  const seen = (index: number) =>
    model.calls[index]?.prompt.flatMap(({ role, content }) =>
      role === "user" && Array.isArray(content)
        ? [content.map((part) => (part.type === "file" ? part.filename : part.type))]
        : [],
    );
  expect(seen(1)).toEqual([["text"], ["text"], ["text", "cat.png"]]);
  const path = `/api/conversations/${encodeURIComponent(ref)}`;
  const decision = { method: "POST", headers, json: { approved: true } };
  await h.request(`${path}/approvals/${outcome.pending[0]?.toolCallId}`, decision);
  await model.called(3);
  expect(seen(2)).toEqual([["text"], ["text"], ["text", "cat.png"]]);

  const { messages } = await (await h.request(`${path}/messages`, { headers })).json();
  const listed = messages.map(({ content, attachments }: { content: string; attachments: { name: string }[] }) => [
    content,
    attachments.map(({ name }) => name),
  ]);
  expect(listed.slice(0, 4)).toEqual([
    ["Hello", []],
    ["Hello.", []],
    ["Look", []],
    ["What is it?", ["cat.png", "note.txt"]],
  ]);
});

test("turns whose pictures are too large together wait for each other, and others for none of them", async () => {
  const held = gate();
  const model = scriptedModel(() => ({ parts: [held.promise, ...text("Seen."), finish()] }));
  const h = await chatHarness(model, { attachmentsEnabled: true });
  const { slug } = h.agent;
  const { db } = h.services.database;
  const [agent] = await db.select().from(agents);
  if (!agent) throw new Error("The agent is not there");
  const turns = ownTurns(h.services);
  const take = async (name: string, pictures: number) => {
    const [id, ref] = [newId(), `${slug}:web:api-${name}`];
    const place = { channel: "web" as const, channelId: `api-${name}` };
    const { id: agentId, organizationId } = agent;
    await db.insert(conversations).values({ ...place, id, ref, agentId, organizationId, subject: "web:ada" });
    const stored = Array.from({ length: pictures }, (_, index) =>
      storeFile(h.services, { agent, conversation: { id }, name: `${index}.png`, mime: "image/png", bytes: png }),
    );
    const fileIds = (await Promise.all(stored)).map((file) => file.id);
    // As large as pictures may be; the bytes themselves are missing.
    await db
      .update(files)
      .set({ size: 5 * 1024 * 1024 })
      .where(eq(files.conversationId, id));
    return takeOwnTurn(turns, slug, {
      door: "inbox",
      ref,
      stored: true,
      rule: "always-finish",
      requestId: newId(),
      throttle: null,
      origin: { ...place, source: "user", depth: 0, subject: "web:ada" },
      input: { history: [], fresh: [name], fileIds },
    });
  };
  const taken = [await take("one", 8), await take("two", 8)];
  await model.called(2);
  taken.push(await take("three", 8), await take("four", 0));
  await model.called(3);
  const asked = () =>
    model.calls.map(({ prompt }) => /"text":"(one|two|three|four)"/.exec(JSON.stringify(prompt))?.[1]);
  expect(asked()).toEqual(["one", "two", "four"]);
  held.open();
  expect((await Promise.all(taken.map(({ ended }) => ended))).map(({ status }) => status)).toEqual(
    Array.from({ length: 4 }, () => "done"),
  );
  expect(asked()).toEqual(["one", "two", "four", "three"]);
});
