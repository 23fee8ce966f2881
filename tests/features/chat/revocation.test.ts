import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { members, workspaceMembers, workspaces } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { managedEdition } from "../../harness.ts";
import { finish, gate, scriptedModel, text } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, dataLines, eventually, readUntil } from "./chat.ts";

/** All changes that end a caller's access to the agent, and the message of each. */
const revocations: Record<string, { change: (h: ChatHarness) => Promise<Response>; message: string }> = {
  "another key": {
    change: (h) => put(h, "/channels/web", { config: { apiKey: "another-key-of-the-agent" } }),
    message: "Invalid API key",
  },
  "the key deleted": {
    change: (h) => send(h, "DELETE", "/secrets/auth_api_key"),
    message: "Auth enabled but no API key configured",
  },
  "Web off": { change: (h) => send(h, "DELETE", "/channels/web"), message: "Unknown model" },
  "the agent inactive": { change: (h) => send(h, "PATCH", "", { active: false }), message: "Unknown model" },
  "the agent deleted": { change: (h) => send(h, "DELETE", ""), message: "Unknown model" },
};

const send = (h: ChatHarness, method: string, path: string, json?: object) =>
  h.request(`/api/instances/${h.agent.slug}${path}`, { method, headers: h.agent.headers, ...(json ? { json } : {}) });
const put = (h: ChatHarness, path: string, json: object) => send(h, "PUT", path, json);

/** A turn that says some text and then waits for a gate. */
async function talking() {
  const held = gate();
  const h = await chatHarness(scriptedModel(() => ({ parts: [text("some"), held.promise, text(" more"), finish()] })));
  return { h, held };
}

describe.each(Object.entries(revocations))("%s", (_, { change, message }) => {
  test("ends an open native stream with an error and done", async () => {
    const { h, held } = await talking();
    const { text: before, reader } = await readUntil(await h.native("q", { chat_id: "c" }), (said) =>
      said.includes("some"),
    );
    await h.engine.closeRevoked();
    expect((await change(h)).status).toBe(200);
    await h.engine.closeRevoked();
    const after = await rest(reader);
    expect(before).not.toContain("event: error");
    expect(after).toContain(`event: error\ndata: ${JSON.stringify({ message })}`);
    expect(after).toContain("event: done");
    held.open();
  });

  test("ends an open completion stream as a failure", async () => {
    const { h, held } = await talking();
    const { reader } = await readUntil(await h.complete("q", { chat_id: "c", stream: true }), (said) =>
      said.includes("some"),
    );
    expect((await change(h)).status).toBe(200);
    await h.engine.closeRevoked();
    const lines = dataLines(await rest(reader));
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ error: { message } });
    expect(lines.at(-1)).toBe("[DONE]");
    expect(lines.join("")).not.toContain("stop");
    held.open();
  });

  test.each([
    false,
    true,
  ])("refuses a completion that said nothing yet (streamed: %s), and drops its turn", async (stream) => {
    const held = gate();
    const model = scriptedModel(() => ({ parts: [held.promise, text("late"), finish()] }));
    const h = await chatHarness(model);
    const waiting = h.complete("q", { chat_id: "c", stream });
    const queued = h.complete("q", { chat_id: "c", stream });
    await model.called(1);
    await eventually(async () => (await h.stored()).turns.length === 2);
    expect((await change(h)).status).toBe(200);
    await h.engine.closeRevoked();
    for (const response of await Promise.all([waiting, queued])) {
      expect(response.ok).toBe(false);
      expect(await response.json()).toMatchObject({ message });
    }
    held.open();
    await eventually(async () => (await h.stored()).turns.every(({ status }) => status === "aborted"));
    expect(model.calls).toHaveLength(1);
    expect((await h.stored()).messages).toEqual([]);
  });
});

test("a change that takes nothing away leaves the stream alone, and the next revocation still ends it", async () => {
  const { h, held } = await talking();
  const { reader } = await readUntil(await h.native("q"), (said) => said.includes("some"));
  await send(h, "PATCH", "", { description: "Another one." });
  await h.engine.closeRevoked();
  await send(h, "DELETE", "/channels/web");
  await h.engine.closeRevoked();
  expect(await rest(reader)).toContain("Unknown model");
  held.open();
});

test("the output so far is kept: the turn continues without its listener", async () => {
  const { h, held } = await talking();
  const { reader } = await readUntil(await h.native("q", { chat_id: "c" }), (said) => said.includes("some"));
  await send(h, "DELETE", "/channels/web");
  await h.engine.closeRevoked();
  await rest(reader);
  held.open();
  await h.engine.stop(1000);
  expect((await h.stored()).messages.at(-1)).toMatchObject({ role: "assistant", content: "some more" });
});

test("another replica's stream is ended too", async () => {
  const { h, held } = await talking();
  const replica = createEngine(h.services);
  const { reader } = await readUntil(await h.native("q"), (said) => said.includes("some"));
  await replica.app.request(`/api/instances/${h.agent.slug}/channels/web`, {
    method: "DELETE",
    headers: h.agent.headers,
  });
  await h.engine.closeRevoked();
  expect(await rest(reader)).toContain("Unknown model");
  held.open();
  await replica.stop(0);
});

describe("in the playground", () => {
  /** A viewer with such a turn in the playground. */
  async function playing() {
    const { h, held } = await talking();
    const json = { messages: [{ role: "user", content: "q" }], chat_id: "p" };
    const response = await h.request(`/api/instances/${h.agent.slug}/playground/stream`, {
      method: "POST",
      headers: await h.as("viewer"),
      json,
    });
    const { reader } = await readUntil(response, (said) => said.includes("some"));
    return { h, held, reader };
  }

  test.each([
    ["is none any more", { isPlatformAdmin: false }, "Organization not found"],
    ["is not active any more", { active: false }, "Invalid or expired credentials"],
  ])("a Platform Admin who %s loses the stream", async (_label, change, message) => {
    const held = gate();
    const model = scriptedModel(() => ({ parts: [text("some"), held.promise, text(" more"), finish()] }));
    const h = await chatHarness(model, {}, { edition: managedEdition });
    const headers = await h.asPlatformAdmin();
    const response = await h.request(`/api/instances/${h.agent.slug}/playground/stream`, {
      method: "POST",
      headers,
      json: { messages: [{ role: "user", content: "q" }], chat_id: "p" },
    });
    const { reader } = await readUntil(response, (said) => said.includes("some"));
    await h.engine.closeRevoked();
    const { user } = await (await h.request("/api/me", { headers })).json();
    const by = await h.asPlatformAdmin();
    const changed = await h.request(`/api/users/${user.id}`, { method: "PATCH", headers: by, json: change });
    expect(changed.status).toBe(200);
    await h.engine.closeRevoked();
    expect(await rest(reader)).toContain(`event: error\ndata: ${JSON.stringify({ message })}`);
    held.open();
  });

  const db = (h: ChatHarness) => h.services.database.db;
  const viewer = eq(members.roleKey, "viewer");

  /** Adds a second workspace. */
  async function anotherWorkspace(h: ChatHarness) {
    const workspaceId = newId();
    const { id: organizationId } = h.organization;
    await db(h).insert(workspaces).values({ id: workspaceId, organizationId, name: "more" });
    return workspaceId;
  }

  test("more rights and workspaces leave the stream alone", async () => {
    const { h, held, reader } = await playing();
    const workspaceId = await anotherWorkspace(h);
    const [person] = await db(h).select().from(members).where(viewer);
    await db(h)
      .insert(workspaceMembers)
      .values({ workspaceId, userId: person?.userId ?? "" });
    await h.engine.closeRevoked();
    await db(h).update(members).set({ roleKey: "member" }).where(viewer);
    await h.engine.closeRevoked();
    held.open();
    const said = await rest(reader);
    expect(said).toContain(" more");
    expect(said).not.toContain("event: error");
  });

  test.each<[string, string, (h: ChatHarness) => Promise<unknown>]>([
    [
      "an agent that moves out of reach",
      "Agent not found",
      async (h) => expect((await send(h, "PATCH", "", { workspaceId: await anotherWorkspace(h) })).status).toBe(200),
    ],
    ["a workspace that is taken away", "Agent not found", (h) => db(h).delete(workspaceMembers)],
    [
      "a role without the permission",
      "Missing permission: agent.playground:use",
      (h) => db(h).update(members).set({ roleKey: "unknown" }).where(viewer),
    ],
    ["a membership that ends", "Organization not found", (h) => db(h).delete(members).where(viewer)],
  ])("%s ends it", async (_label, message, change) => {
    const { h, held, reader } = await playing();
    await h.engine.closeRevoked();
    await change(h);
    await h.engine.closeRevoked();
    expect(await rest(reader)).toContain(`event: error\ndata: ${JSON.stringify({ message })}`);
    held.open();
  });
});

async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return said;
    said += decoder.decode(value, { stream: true });
  }
}
