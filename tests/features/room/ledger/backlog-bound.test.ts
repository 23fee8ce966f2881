import { APICallError } from "@ai-sdk/provider";
import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { agents, eventSources, jobs } from "../../../../src/db/schema.ts";
import { converseJob, matchJob } from "../../../../src/features/room/ledger/store.ts";
import { reply } from "../../../scripted-model.ts";
import { sending, sourceOf } from "../events.ts";
import { answering, matching } from "../match/matching.ts";

const [mostOfAgent, mostOfOrganization] = [5_000, 20_000];
const stored = [200, { ok: true }];
const refused = { statusCode: 503, message: "Too many events wait to be handled: send it again later" };

type Sending = Awaited<ReturnType<typeof sending>>;
interface Owner {
  agentId: string;
  organizationId: string;
}

/** Leaves the jobs of this many waiting events, due in an hour. */
async function waiting(
  { db, clock }: Pick<Sending, "db" | "clock">,
  owner: Owner,
  count: number,
  kind = matchJob.kind,
) {
  const { agentId, organizationId } = owner;
  const runAt = new Date(clock.now() + 3_600_000).toISOString();
  await db.execute(sql`
    insert into jobs (id, kind, key, organization_id, payload, run_at)
    select gen_random_uuid(), ${kind}, gen_random_uuid()::text, ${organizationId}::uuid,
      jsonb_build_object('agentId', ${agentId}::text), ${runAt}::timestamptz from generate_series(1, ${count}::int)`);
}

/** Ends this many of the jobs, as a worker does. */
const done = ({ db }: Pick<Sending, "db">, count: number) =>
  db.execute(sql`delete from jobs where id in (select id from jobs order by run_at desc limit ${count}::int)`);

const warnings = ({ logs }: Pick<Sending, "logs">) =>
  logs.filter((line) => line.includes("Events are refused: too many wait to be handled"));

test("an event beyond those that may wait of an agent is refused until others are done", async () => {
  const h = await sending();
  const beside = await sourceOf(h, (await h.makeAgent()).slug);
  await waiting(h, h.source, mostOfAgent - 2);
  expect(await h.post("1")).toEqual(stored);
  expect(await h.post("2")).toEqual(stored);
  const path = `/webhooks/${h.source.token}`;
  const response = await h.request(path, { method: "POST", json: 3 });
  expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "60"]);
  expect(await response.json()).toMatchObject(refused);
  // An event sent again counts like any other.
  expect((await h.post("2"))[0]).toBe(503);
  expect((await h.rows()).map(({ payload }) => payload)).toEqual([1, 2]);
  expect(await h.post("4", {}, beside.token)).toEqual(stored);

  await h.clock.jump(5_000);
  expect((await h.post("5"))[0]).toBe(503);
  await done(h, 1);
  await h.clock.jump(4_999);
  expect((await h.post("6"))[0]).toBe(503);
  await h.clock.jump(1);
  expect(await h.post("7")).toEqual(stored);
  expect((await h.post("8"))[0]).toBe(503);
  expect((await h.rows()).map(({ payload }) => payload)).toEqual([1, 2, 4, 7]);
});

test("an event that is not to wait is stored and answered as ever", async () => {
  const h = await sending();
  await waiting(h, h.source, mostOfAgent);
  expect((await h.post("1"))[0]).toBe(503);
  expect(await h.post("{")).toEqual([200, { ok: false, error: "invalid payload" }]);
  expect(await h.post("{}", {}, "nobody")).toEqual([200, { ok: false, error: "unknown token" }]);
  await h.db.update(eventSources).set({ enabled: false });
  expect(await h.post("2")).toEqual(stored);
  await h.db.update(eventSources).set({ enabled: true });
  await h.db.update(agents).set({ active: false });
  expect(await h.post("3")).toEqual(stored);
  expect((await h.rows()).map(({ outcome }) => outcome)).toEqual(["invalid-payload", "source-disabled", "room-off"]);
});

test("events whose turns have not begun wait too, and a replay is one more", async () => {
  const h = await sending();
  await h.post("1");
  const [event] = await h.rows();
  await waiting(h, h.source, mostOfAgent / 2);
  await waiting(h, h.source, mostOfAgent / 2 - 1, converseJob.kind);
  await h.clock.jump(60_000);
  const replay = `/api/instances/${h.agent.slug}/room/events/${event?.id}/replay`;
  const response = await h.request(replay, { method: "POST", headers: h.agent.headers });
  expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "60"]);
  expect(await response.json()).toMatchObject(refused);
  await done(h, 1);
  await h.clock.jump(5_000);
  expect((await h.request(replay, { method: "POST", headers: h.agent.headers })).status).toBe(201);
  expect(await h.rows()).toHaveLength(2);
});

test("all agents of an organization together may have so many, and take nothing from another organization's", async () => {
  const h = await sending();
  const other = await h.createOrganization("other");
  const beside = await sourceOf(h, (await h.makeAgent()).slug);
  const foreign = await sourceOf(h, (await h.makeAgent()).slug);
  const own = { organizationId: other.id };
  await h.db
    .update(agents)
    .set({ ...own, workspaceId: other.workspaceId })
    .where(eq(agents.id, foreign.agentId));
  await h.db.update(eventSources).set(own).where(eq(eventSources.id, foreign.id));
  await waiting(h, h.source, mostOfOrganization - 1);
  expect(await h.post("1", {}, beside.token)).toEqual(stored);
  expect((await h.post("2", {}, beside.token))[0]).toBe(503);
  expect(await h.post("3", {}, foreign.token)).toEqual(stored);
  expect(await h.db.$count(jobs, eq(jobs.organizationId, other.id))).toBe(1);
});

test("agents that are flooded leave space to those that are quiet", async () => {
  const h = await sending();
  const flooded = await Promise.all(Array.from({ length: 4 }, async () => sourceOf(h, (await h.makeAgent()).slug)));
  for (const [index, source] of flooded.entries()) {
    await waiting(h, source, index < 3 ? mostOfAgent : mostOfAgent / 2);
  }
  for (const { token } of flooded) expect((await h.post("1", {}, token))[0]).toBe(503);
  for (const event of ["1", "2", "3"]) expect(await h.post(event)).toEqual(stored);
  expect((await h.post("2", {}, flooded[3]?.token))[0]).toBe(503);
});

test("the operator reads of refusals in the log, once a minute for an agent, and in the metrics", async () => {
  const metricsToken = "a-token-for-the-metrics";
  const h = await sending({ metricsToken });
  await waiting(h, h.source, mostOfAgent);
  for (let call = 0; call < 3; call += 1) expect((await h.post("1"))[0]).toBe(503);
  expect(warnings(h).map((line) => JSON.parse(line))).toMatchObject([{ level: "warn", agent: h.agent.slug }]);
  for (let second = 0; second < 60; second += 10) {
    await h.clock.jump(10_000);
    expect((await h.post("1"))[0]).toBe(503);
  }
  expect(warnings(h)).toHaveLength(2);
  const metrics = await h.request("/metrics", { headers: { Authorization: `Bearer ${metricsToken}` } });
  expect(await metrics.text()).toContain('agent_engine_webhooks_total{answer="too many wait"} 9');
});

test("an event that is handled gives its space back", async () => {
  const throttled = new APICallError({
    message: "Slow down",
    url: "https://model.test",
    requestBodyValues: {},
    statusCode: 429,
    responseHeaders: { "retry-after": "60" },
  });
  const h = await matching(answering([{ fail: throttled }, reply("no"), reply("no")]));
  await h.define();
  await waiting(h, h.source, mostOfAgent - 1);
  const post = async (json: unknown) =>
    (await h.request(`/webhooks/${h.source.token}`, { method: "POST", json })).status;
  expect(await post(1)).toBe(200);
  await h.idle();
  await h.clock.jump(5_000);
  expect(await post(2)).toBe(503);
  await h.clock.jump(60_000);
  await h.idle();
  expect(await post(3)).toBe(200);
});
