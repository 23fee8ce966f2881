import { expect, test } from "vitest";
import { newToken } from "../../../src/core/credentials/tokens.ts";
import { newId } from "../../../src/core/ids.ts";
import { accessTokens } from "../../../src/db/schema.ts";
import { type ActivityHarness, activityHarness, pause } from "./following.ts";

async function capped(activityConnections: { total: number; perUser: number }) {
  const h = await activityHarness();
  h.services.policies.set({ ...h.services.policies.values, activityConnections });
  return h;
}

type Stream = Awaited<ReturnType<ActivityHarness["live"]>>;

const open = (streams: readonly Stream[]) => streams.filter(({ status }) => status === 200);

/** Alternates between both routes, which share their limits. */
async function connect(h: ActivityHarness, headers: Record<string, string>, count: number, query: string) {
  const calls = Array.from({ length: count }, (_, n) => (n % 2 ? h.live(headers) : h.conversation(headers, query)));
  return Promise.all(calls);
}

test("500 racing connects get exactly the places that there are, and the others 503 with Retry-After", async () => {
  const h = await capped({ total: 30, perUser: 12 });
  const { query } = await h.talk(await h.actor());
  const people = await Promise.all(Array.from({ length: 5 }, () => h.as("owner")));
  const [first = {}, ...others] = people;
  const greedy = await connect(h, first, 100, query);
  expect(open(greedy)).toHaveLength(12);
  const all = (await Promise.all(others.map((headers) => connect(h, headers, 100, query)))).flat();
  expect(open(all)).toHaveLength(30 - 12);
  for (const { status, response } of [...greedy, ...all].filter(({ status }) => status !== 200)) {
    expect([status, response.headers.get("Retry-After")]).toEqual([503, "60"]);
  }
});

test("a client that leaves frees its connection, however often, and once only", async () => {
  const h = await capped({ total: 6, perUser: 4 });
  const { query } = await h.talk(await h.actor());
  const [one, two] = [await h.as("owner"), await h.as("owner")];
  for (let round = 0; round < 20; round += 1) {
    const streams = [...(await connect(h, one, 8, query)), ...(await connect(h, two, 4, query))];
    expect(open(streams), `round ${round}`).toHaveLength(6);
    for (const stream of open(streams)) {
      stream.leave();
      // It leaves again, by its body.
      stream.leave();
    }
    await pause();
  }
});

test("a client that left before its stream was open takes no connection, nor does a refused call", async () => {
  const h = await capped({ total: 1, perUser: 1 });
  const owner = await h.as("owner");
  for (let round = 0; round < 5; round += 1) {
    const gone = h.request("/api/activity-stream/live", { headers: owner, signal: AbortSignal.abort() });
    await gone.catch(() => {});
    expect((await h.conversation(owner, "conversationId=x&instanceId=x")).status).toBe(404);
  }
  expect((await h.live(owner)).status).toBe(200);
  expect((await h.live(owner)).status).toBe(503);
});

test("a management key is a caller of its own; a lowered policy closes nothing and a raised one opens more", async () => {
  const h = await capped({ total: 10, perUser: 1 });
  const owner = await h.as("owner");
  const { token, digest } = await newToken("management");
  const row = { id: newId(), kind: "management" as const, digest, organizationId: h.organization.id };
  await h.db.insert(accessTokens).values({ ...row, prefix: token.slice(0, 10), name: "CI" });
  const key = { Authorization: `Bearer ${token}` };
  expect([(await h.live(owner)).status, (await h.live(owner)).status]).toEqual([200, 503]);
  expect([(await h.live(key)).status, (await h.live(key)).status]).toEqual([200, 503]);
  h.services.policies.set({ ...h.services.policies.values, activityConnections: { total: 2, perUser: 5 } });
  expect((await h.live(owner)).status).toBe(503);
  h.services.policies.set({ ...h.services.policies.values, activityConnections: { total: 3, perUser: 5 } });
  expect([(await h.live(owner)).status, (await h.live(owner)).status]).toEqual([200, 503]);
});
