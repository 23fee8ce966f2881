import { ownerToken, send } from "../engine.ts";

const slug = "room";
const path = `/api/instances/${slug}`;

/** The webhook address of the agent `room`, and the owner's token. */
export interface RoomAgent {
  webhookToken: string;
  token: string;
}

/** Makes the agent `room` as a user would: with a Room, an event source with one definition, and a task. */
export async function createRoomAgent(url: string): Promise<RoomAgent> {
  const token = await ownerToken(url);
  const call = async <Answer>(method: string, under: string, body: object) =>
    (await send(url, method, under, body, token)) as Answer;
  const model = { provider: "openai-compatible", model: "room", fastModel: "room", memoryEnabled: false };
  await call("POST", "/api/instances", { slug, ...model });
  await call("PUT", `${path}/room`, { enabled: true });
  const source = { name: "Issues", sourceType: "webhook" };
  const made = await call<{ id: string; webhookToken: string }>("POST", `${path}/event-sources`, source);
  await call("POST", `${path}/event-sources/${made.id}/definitions`, {
    name: "Bugs",
    action: "backlog",
    matchingPrompt: "Somebody reports a bug",
    interpretationPrompt: "A bug was reported. Decide who is to look at it.",
  });
  // Not due before the bench ends, at any hour.
  const daily = { type: "interval", everyMs: 86_400_000 };
  await call("POST", `${path}/scheduled-tasks`, { name: "Report", prompt: "Report.", schedule: daily });
  return { webhookToken: made.webhookToken, token };
}

/** The number of events in the agent's ledger; with this outcome, if one is given. */
export async function countEvents(url: string, token: string, outcome?: string): Promise<number> {
  const list = `${path}/room/events?limit=1${outcome ? `&outcome=${outcome}` : ""}`;
  const response = await fetch(url + list, { headers: { Authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`GET ${list}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { total: number }).total;
}

/** A sender's payload: about a kilobyte. */
export const issue = (number: number) => ({
  action: "opened",
  issue: {
    number,
    title: "The basket is empty after the payment",
    user: { login: "ada", id: 4711 },
    labels: [{ name: "bug" }, { name: "shop" }],
    body: "I put two books into the basket, paid, and found the basket empty. ".repeat(10),
  },
  repository: { full_name: "acme/shop", private: true },
});
