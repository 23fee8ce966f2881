import { asc, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { CurrentPolicies, defaultPolicies } from "../../../src/core/policies.ts";
import { auditLogs, installation } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { type Harness, harness } from "../../harness.ts";
import { writeEntries } from "./entries.ts";

const hour = 60 * 60 * 1000;

/** A harness with a policy stored as by an Owner. */
async function keeping(retentionDays: number | null): Promise<Harness> {
  const h = await harness();
  await keep(h, retentionDays);
  return h;
}

const keep = async (h: Harness, retentionDays: number | null) => {
  const policies = retentionDays === null ? {} : { retentionDays };
  await h.services.database.db
    .insert(installation)
    .values({ id: 1, policies })
    .onConflictDoUpdate({ target: installation.id, set: { policies } });
};

async function targets({ services }: Harness): Promise<(string | null)[]> {
  const rows = await services.database.db.select().from(auditLogs).orderBy(asc(auditLogs.createdAt));
  return rows.map(({ target }) => target);
}

const count = async ({ services }: Harness) => services.database.db.$count(auditLogs);

/** The test's clock begins on 2026-01-01. */
const entries = [
  { target: "nobody's, old", organizationId: null, at: "2025-11-01T00:00:00Z" },
  { target: "old", at: "2025-12-01T23:59:59.999Z" },
  { target: "just kept", at: "2025-12-02T00:00:00Z" },
  { target: "new", at: "2025-12-31T00:00:00Z" },
];

test("without the policy nothing is deleted; with it what is older, of all organizations and of none", async () => {
  const h = await keeping(null);
  const other = await h.createOrganization("other");
  await writeEntries(h, [...entries, { target: "theirs", organizationId: other.id, at: "2025-11-02T00:00:00Z" }]);
  await h.engine.tick();
  expect(await count(h)).toBe(5);
  await keep(h, 30);
  await h.engine.tick();
  expect(await targets(h)).toEqual(["just kept", "new"]);
});

test("it looks once an hour", async () => {
  const h = await keeping(30);
  await h.engine.tick();
  await writeEntries(h, entries);
  await h.clock.advance(hour - 1);
  await h.engine.tick();
  expect(await count(h)).toBe(4);
  await h.clock.advance(1);
  await h.engine.tick();
  expect(await targets(h)).toEqual(["new"]);
});

test("a lot goes in batches, one with each tick, also while two replicas do it", async () => {
  const h = await keeping(30);
  await h.services.database.db.execute(sql`
    insert into audit_logs (id, actor_type, action, target, created_at)
    select gen_random_uuid(), 'system', 'a.b', 'x', timestamptz '2025-06-01' + n * interval '1 second'
    from generate_series(1, 25000) n`);
  await writeEntries(h, [{ target: "new", at: "2025-12-31T00:00:00Z" }]);
  await h.engine.tick();
  expect(await count(h)).toBe(15_001);
  const policies = new CurrentPolicies();
  policies.set({ ...defaultPolicies, retentionDays: 30 });
  const second = createEngine({ ...h.services, policies });
  await Promise.all([h.engine.tick(), second.tick()]);
  await h.engine.tick();
  expect(await targets(h)).toEqual(["new"]);
});
