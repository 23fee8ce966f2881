import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { type Harness, harness } from "../../harness.ts";
import { writeEntries } from "./entries.ts";

type Headers = Record<string, string>;

const ask = (h: Harness, headers: Headers, query = "") => h.request(`/api/audit-logs/stats${query}`, { headers });

test("counts entries by action, actor and day", async () => {
  const h = await harness();
  const [ada, key] = [newId(), newId()];
  const byAda = { actorId: ada, actorName: "Ada" };
  await writeEntries(h, [
    { ...byAda, at: "2025-12-31T23:59:59.999Z" },
    { ...byAda, at: "2026-01-01T00:00:00Z" },
    { ...byAda, actorName: "Ada Lovelace", action: "agent.create", at: "2026-01-03T10:00:00Z" },
    { actorType: "key", actorId: key, actorName: "CI", at: "2026-01-03T11:00:00Z" },
    { actorType: "system", actorName: null, action: "session.create", success: false, at: "2026-01-03T12:00:00Z" },
    { actorType: "system", actorName: "quickstart", at: "2026-01-03T23:59:59.999Z" },
    { ...byAda, at: "2026-01-04T00:00:00Z" },
  ]);
  const response = await ask(h, await h.as("admin"), "?from=2026-01-01&to=2026-01-04");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    total: 5,
    failures: 1,
    actions: [
      { action: "agent.update", count: 3 },
      { action: "agent.create", count: 1 },
      { action: "session.create", count: 1 },
    ],
    actors: [
      { actor: { type: "user", id: ada, name: "Ada Lovelace" }, count: 2 },
      { actor: { type: "key", id: key, name: "CI" }, count: 1 },
      { actor: { type: "system", id: null, name: "quickstart" }, count: 1 },
      { actor: { type: "system", id: null, name: null }, count: 1 },
    ],
    daily: [
      { date: "2026-01-01", count: 1, failures: 0 },
      { date: "2026-01-02", count: 0, failures: 0 },
      { date: "2026-01-03", count: 4, failures: 1 },
    ],
  });
});

test("without a period it is the last 30 days", async () => {
  const h = await harness();
  await writeEntries(h, [
    { at: "2025-12-02T23:59:59Z" },
    { at: "2025-12-03T00:00:00Z" },
    { at: "2026-01-01T23:00:00Z" },
    { at: "2026-01-02T00:00:00Z" },
  ]);
  const stats = await (await ask(h, await h.as("owner"))).json();
  expect(stats).toMatchObject({ total: 2, failures: 0 });
  expect(stats.daily).toHaveLength(30);
  expect([stats.daily[0], stats.daily.at(-1)]).toEqual([
    { date: "2025-12-03", count: 1, failures: 0 },
    { date: "2026-01-01", count: 1, failures: 0 },
  ]);
});

test("nothing is counted as nothing, and the lists are bounded", async () => {
  const h = await harness();
  const owner = await h.as("owner");
  const nothing = await (await ask(h, owner, "?from=2025-06-01&to=2025-06-01")).json();
  expect(nothing).toEqual({ total: 0, failures: 0, actions: [], actors: [], daily: [] });
  await writeEntries(
    h,
    Array.from({ length: 60 }, (_, index) => ({
      action: `a.${String(index).padStart(2, "0")}`,
      actorName: `${index}`,
    })),
  );
  const { total, actions, actors } = await (await ask(h, owner, "?from=2025-06-01&to=2025-06-02")).json();
  expect([total, actions.length, actors.length]).toEqual([60, 50, 20]);
  expect(actions[0]).toEqual({ action: "a.00", count: 1 });
});

test.each([
  ["?from=2025-01-01&to=2026-01-03", "from: must be at most 366 days before to"],
  ["?from=2024-06-01", "from: must be at most 366 days before to"],
  ["?from=2026-02-01", "from: must not be after to, nor without to in the future"],
  ["?from=2025-02-01&to=2025-01-01", "from: must not be after to, nor without to in the future"],
  ["?from=x", "from: must be an ISO 8601 date, or date and time with a zone"],
  ["?to=0000-01-01", "to: must be in the years 1900 to 9999"],
])("%s is a 400", async (query, message) => {
  const h = await harness();
  const response = await ask(h, await h.as("owner"), query);
  expect(response.status).toBe(400);
  expect((await response.json()).message).toBe(message);
});

test("the bounds of what can be asked are answered", async () => {
  const h = await harness();
  const owner = await h.as("owner");
  for (const query of ["?to=1900-01-01", "?from=9999-06-01&to=9999-12-31", "?from=2024-01-01&to=2025-01-01"]) {
    expect((await ask(h, owner, query)).status, query).toBe(200);
  }
});
