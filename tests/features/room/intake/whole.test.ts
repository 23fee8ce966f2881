import { expect, test } from "vitest";
import { harness } from "../../../harness.ts";
import { eventually } from "../../chat/chat.ts";

/** An agent with a Room that is on, and calls of its management routes. */
async function agentWithRoom() {
  const h = await harness();
  const { slug, headers } = await h.agent();
  const api = async (method: string, path: string, json?: unknown) => {
    const init = { method, headers, ...(json === undefined ? {} : { json }) };
    return (await h.request(`/api/instances/${slug}${path}`, init)).json();
  };
  await api("PUT", "/room", { enabled: true });
  const decided = (id: string) =>
    eventually(async () => {
      const { event } = await api("GET", `/room/events/${id}`);
      return event.outcome !== "pending" && event;
    });
  const newest = async () => (await api("GET", "/room/events?limit=1")).events[0].id as string;
  return { ...h, api, decided, newest };
}

test("an event that comes in is matched, and a replay by the definitions as they are then", async () => {
  const h = await agentWithRoom();
  const source = await h.api("POST", "/event-sources", {
    name: "Shop",
    sourceType: "webhook",
    authKey: "k".repeat(20),
  });
  const definitions = `/event-sources/${source.id}/definitions`;
  await h.api("POST", definitions, {
    name: "Complaints",
    matchingPrompt: 'The text has the word "broken"',
    action: "backlog",
  });
  const send = async (payload: unknown) => {
    const headers = { Authorization: `Bearer ${"k".repeat(20)}` };
    const response = await h.request(new URL(source.webhookUrl).pathname, { method: "POST", headers, json: payload });
    expect(await response.json()).toEqual({ ok: true });
    return h.newest();
  };
  const complaint = await send({ text: "It came broken" });
  const entry = await h.decided(complaint);
  expect(entry).toMatchObject({ outcome: "backlog", backlogId: expect.any(String), replayOf: null });
  expect(entry.verdicts).toMatchObject([{ definitionId: entry.definitionId, matched: true }]);
  expect(await h.decided(await send({ text: "Thank you" }))).toMatchObject({ outcome: "no-match", backlogId: null });

  await h.api("PUT", `${definitions}/${entry.definitionId}`, { enabled: false });
  const { id } = await h.api("POST", `/room/events/${complaint}/replay`);
  expect(await h.decided(id)).toMatchObject({ outcome: "no-match", replayOf: complaint, verdicts: [] });
});
