import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { compare, takeSnapshot } from "../../contract/rows.ts";
import { harness } from "../../harness.ts";
import { fullAgent } from "./full-agent.ts";

/** Every table that an import of the fixture's bundle writes to, in the order of the import. */
const tables = [
  ...["agents", "agent_icons", "agent_prompts", "agent_skills", "skill_env", "agent_tools", "channels"],
  ...["jobs", "hooks", "rooms", "event_sources", "event_definitions", "scheduled_tasks", "audit_logs"],
];

test("an import that fails at any part leaves nothing behind", async () => {
  const h = await harness();
  const { call, path } = await fullAgent(h);
  const bundle = await call<{ instance: object }>("GET", `${path}/export`);
  // With a time soon, so that the import also makes a job.
  const task = {
    name: "Soon",
    prompt: "Now.",
    schedule: { type: "one-shot", runAt: new Date(h.clock.now() + 5_000) },
  };
  const instance = { ...bundle.instance, scheduledTasks: [task] };
  const headers = await h.as("owner");
  await call("POST", "/api/instances", { slug: "other" });
  const { database } = h.services;
  await database.db.execute(sql`
    create function fail() returns trigger language plpgsql as $$ begin raise exception 'injected'; end $$`);

  for (const table of tables) {
    await database.db.execute(
      sql.raw(`create trigger injected before insert or update or delete on ${table} execute function fail()`),
    );
    for (const target of ["/api/instances/import", "/api/instances/other/import"]) {
      const before = await takeSnapshot(database);
      const response = await h.request(target, { method: "POST", headers, json: { ...bundle, instance } });
      expect([table, target, response.status]).toEqual([table, target, 500]);
      const changes = compare(before, await takeSnapshot(database));
      expect(changes.filter((change) => change.table !== "access_tokens")).toEqual([]);
    }
    await database.db.execute(sql.raw(`drop trigger injected on ${table}`));
  }

  // Nothing blocks the import any more, and the slug is still free.
  expect(await call("POST", "/api/instances/import", { ...bundle, instance })).toMatchObject({ slug: "shop-imported" });
});
