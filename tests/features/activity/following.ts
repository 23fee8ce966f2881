import { eq } from "drizzle-orm";
import type { Activity, ActivityKind } from "../../../src/core/activity/activity.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";

type Headers = Record<string, string>;

/** The real app, with agents that are active, and readers of activity streams. */
export async function activityHarness(options: Parameters<typeof harness>[0] = {}) {
  const h = await harness(options);
  const { db } = h.services.database;

  const actor = async ({ id, workspaceId } = h.organization) => {
    const row = { id: newId(), slug: `agent-${newId()}`, name: "Helper", organizationId: id, workspaceId };
    await db.insert(agents).values(row);
    return { ...row, iconVersion: null };
  };
  const talk = async (agent: Awaited<ReturnType<typeof actor>>) => {
    const [id, channelId] = [newId(), newId()];
    const ref = `${agent.slug}:web:${channelId}`;
    const owner = { agentId: agent.id, organizationId: agent.organizationId, subject: "web:ada" as const };
    await db.insert(conversations).values({ ...owner, id, ref, channel: "web", channelId });
    return { id, ref, query: new URLSearchParams({ conversationId: ref, instanceId: agent.slug }).toString() };
  };
  const tell = (
    agent: Activity["agent"],
    text: string,
    conversationId: string | null = null,
    kind: ActivityKind = "inbound",
  ) => h.services.activity.emit({ kind, text, agent, conversationId });
  const move = (id: string, workspaceId: string) => db.update(agents).set({ workspaceId }).where(eq(agents.id, id));

  return {
    ...h,
    db,
    actor,
    talk,
    tell,
    move,
    live: (headers: Headers, query = "") => follow(h, `/api/activity-stream/live${query}`, headers),
    conversation: (headers: Headers, query: string) => follow(h, `/api/activity-stream/conversation?${query}`, headers),
  };
}

export type ActivityHarness = Awaited<ReturnType<typeof activityHarness>>;

interface Told {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** Calls a stream and reads it until its end. */
export async function follow(h: Pick<Harness, "request">, path: string, headers: Headers) {
  const left = new AbortController();
  const response = await h.request(path, { headers, signal: left.signal });
  let text = "";
  const read = async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
  };
  // A reader that leaves cancels the stream.
  const ended = read().catch(() => {});
  const events = async () => {
    await pause();
    return text.split("\n\n").flatMap(toTold);
  };
  return {
    response,
    status: response.status,
    text: () => text,
    /** All events so far, including all sent before this call. */
    events,
    heard: async () => (await events()).map(({ data }) => data.text),
    ended,
    leave: () => left.abort(),
  };
}

/** Lets sent events pass through the streams, which only take promises. */
export async function pause(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function toTold(block: string): Told[] {
  if (block === "" || block.startsWith(":")) return [];
  const fields = new Map(block.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]));
  return [
    { id: fields.get("id") ?? "", event: fields.get("event") ?? "", data: JSON.parse(fields.get("data") ?? "null") },
  ];
}
