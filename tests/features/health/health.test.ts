import { expect, test } from "vitest";
import { ok, warn } from "../../../src/core/check.ts";
import { createEngine } from "../../../src/engine.ts";
import { type Harness, harness } from "../../harness.ts";

type Headers = Record<string, string>;

const path = "/api/installation/health";

interface Answer {
  ok: boolean;
  version: string;
  checks: { name: string; status: string; message: string }[];
  scheduler: { status: string };
}

async function ask(h: Pick<Harness, "request">, headers: Headers): Promise<Answer> {
  const response = await h.request(path, { headers });
  expect(response.status).toBe(200);
  return response.json();
}

const named = (checks: Answer["checks"], wanted: string) =>
  checks.flatMap(({ name, status, message }) => (name === wanted ? [`${status}: ${message}`] : []));

test("a server answers what doctor examines, with the machine's checks around those of the database", async () => {
  const h = await harness();
  const owner = await h.as("owner");
  const asked: unknown[] = [];
  const { app } = createEngine({
    ...h.services,
    machine: {
      databaseHost: "db.example:5432",
      async examine(policies) {
        asked.push(policies);
        return { before: [ok("settings", "All are valid")], after: [warn("providers", "The key sk-1 is refused")] };
      },
      scrub: (text) => text.replace("sk-1", "[secret]"),
    },
  });
  const response = await app.request(`http://localhost:4000${path}`, { headers: owner });
  expect(response.status).toBe(200);
  const { ok: healthy, checks, version, scheduler } = (await response.json()) as Answer;
  expect(healthy).toBe(true);
  expect(version).toBe(h.services.options.version);
  expect(scheduler.status).toBe("ok");
  expect(checks[0]).toEqual({ name: "settings", status: "ok", message: "All are valid" });
  expect(checks.at(-1)).toEqual({ name: "providers", status: "warn", message: "The key [secret] is refused" });
  expect(named(checks, "database")[0]).toMatch(/^ok: .*PostgreSQL \d+\.\d+/);
  expect(named(checks, "owner")).toHaveLength(1);
  expect(named(checks, "background work")).toEqual(["ok: Nothing failed; 0 jobs wait"]);
  expect(named(checks, "scheduler")).toEqual(["ok: Due work of Rooms and tasks is looked for"]);
  expect(asked).toEqual([{ publicAddress: null, defaultModel: null }]);
});

test("a scheduler that hangs fails", async () => {
  const h = await harness();
  const owner = await h.as("owner");
  h.clock.advance(3 * 60_000);
  const { ok: healthy, checks } = await ask(h, owner);
  expect(healthy).toBe(false);
  expect(named(checks, "scheduler")[0]).toMatch(/^fail: Due work of Rooms and tasks is not looked for since its start/);
});

test("only those who administer the installation may ask", async () => {
  const h = await harness();
  const other = await h.createOrganization("other");
  for (const headers of [await h.as("admin"), await h.as("owner", { organization: other })]) {
    expect((await h.request(path, { headers })).status).toBe(403);
  }
});
