import type { Worker } from "node:worker_threads";
import { describe, expect, test, vi } from "vitest";
import { threadedPasswords } from "../../../src/adapters/node/password/thread.ts";
import { auditLogs } from "../../../src/db/schema.ts";
import { issueSetupToken } from "../../../src/features/account/index.ts";
import { type Harness, harness } from "../../harness.ts";
import { createUser, join, password, signIn } from "./people.ts";

/** The number of calls to the threads for passwords, and the promise that each call waits for. */
const threads = vi.hoisted(() => ({ called: 0, opened: Promise.resolve() }));
vi.mock("node:worker_threads", async (load) => {
  const real = await load<typeof import("node:worker_threads")>();
  class HeldWorker extends real.Worker {
    readonly #isHeld: boolean;
    constructor(...[file, options]: ConstructorParameters<typeof Worker>) {
      super(file, options);
      this.#isHeld = String(file).includes("password");
    }
    override postMessage(...call: Parameters<Worker["postMessage"]>) {
      if (!this.#isHeld) return super.postMessage(...call);
      threads.called += 1;
      void threads.opened.then(() => super.postMessage(...call));
    }
  }
  return { ...real, Worker: HeldWorker };
});

const minute = 60_000;
const email = "ada@example.com";

/** Sets the count of a throttle key. */
const counted = (h: Harness, key: string, count: number) =>
  h.services.database.query("insert into throttles (key, count, resets_at) values ($1, $2, $3)", [
    key,
    count,
    new Date(h.clock.now() + 15 * minute).toISOString(),
  ]);
const entriesOf = (h: Harness) => h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);

describe("a refused sign-in", () => {
  test("of an account is in its organizations' logs, once a window", async () => {
    const h = await harness();
    const { id } = await createUser(h, email);
    const lab = await join(h, id, "lab");
    const key = `sign-in:192.0.2.1:${email}`;
    await counted(h, key, 10);
    const refuse = async () => (await signIn(h, { email, password }, { "User-Agent": "test/1" })).status;
    expect(await Promise.all([refuse(), refuse(), refuse()])).toEqual([429, 429, 429]);
    const entries = await entriesOf(h);
    expect(entries).toHaveLength(2);
    const shared = { action: "session.create", actorId: id, target: email, success: false };
    const refused = { refused: "failed sign-ins", limit: 10 };
    expect(entries.find(({ organizationId }) => organizationId === h.organization.id)).toMatchObject({
      ...shared,
      ip: "192.0.2.1",
      summary: { ...refused, userAgent: "test/1" },
    });
    const elsewhere = entries.find(({ organizationId }) => organizationId === lab.id);
    expect(elsewhere).toMatchObject({ ...shared, ip: "" });
    expect(elsewhere?.summary).toEqual(refused);

    await h.clock.advance(15 * minute);
    await h.services.database.query("delete from throttles", []);
    await counted(h, key, 10);
    await refuse();
    expect(await entriesOf(h)).toHaveLength(4);
  });

  test.each([
    ["sign-ins:192.0.2.1", 100, "sign-ins"],
    ["sign-in:192.0.2.1", 50, "failed sign-ins"],
  ])("under the limit of %s is in the installation's log, once a window", async (key, limit, refused) => {
    const h = await harness();
    await createUser(h, email);
    await counted(h, key, limit);
    for (const who of [email, "nobody@example.com", email])
      expect((await signIn(h, { email: who, password })).status).toBe(429);
    const entries = await entriesOf(h);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      action: "session.create",
      organizationId: null,
      actorType: "system",
      target: "192.0.2.1",
      ip: "192.0.2.1",
      success: false,
      summary: { refused, limit },
    });
  });
});

describe("an IPv6 /48", () => {
  const network = "sign-in:2001:db8:1::/48";
  const from = (h: Harness, ip: string, secret = password) =>
    signIn(h, { email, password: secret }, { "X-Forwarded-For": ip });

  test("has 500 failures, whatever the /64s", async () => {
    const h = await harness({ trustProxy: 1 });
    await createUser(h, email);
    await counted(h, network, 499);
    expect((await from(h, "2001:db8:1:1::1", "wrong")).status).toBe(401);
    const refused = await from(h, "2001:db8:1:2::1");
    expect([refused.status, refused.headers.get("X-RateLimit-Limit")]).toEqual([429, "500"]);
    expect((await from(h, "2001:db8:2:1::1")).status).toBe(200);
    expect((await from(h, "192.0.2.1")).status).toBe(200);
    await h.clock.advance(15 * minute);
    expect((await from(h, "2001:db8:1:2::1")).status).toBe(200);
  });

  test("counts no success", async () => {
    const h = await harness({ trustProxy: 1 });
    await createUser(h, email);
    expect((await from(h, "2001:db8:1:1::1")).status).toBe(200);
    expect((await from(h, "2001:db8:1:2::1", "wrong")).status).toBe(401);
    expect(await h.services.database.query("select count from throttles where key = $1", [network])).toEqual([
      { count: 1 },
    ]);
  });
});

test("a client with four checks waiting gets 429, which counts as no failure and locks out no other client", async () => {
  const h = await harness({ trustProxy: 1 });
  await createUser(h, email);
  const queue = threadedPasswords({ clock: h.clock, log: h.services.log });
  h.services.passwords = queue;
  const from = (ip: string) => signIn(h, { email, password }, { "X-Forwarded-For": ip });
  const { promise, resolve: open } = Promise.withResolvers<void>();
  threads.opened = promise;
  const held = Array.from({ length: 4 }, () => queue.verify(null, "no", "2001:db8:0:1::/64"));
  const refused = await from("2001:db8:0:1::9");
  expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "1"]);
  expect((await refused.json()).message).toBe("Too many sign-ins at once: try again in 1 second");
  const other = from("2001:db8:0:2::9");
  await expect.poll(() => threads.called).toBe(5);
  open();
  expect((await other).status).toBe(200);
  await Promise.all(held);
  const failures = await h.services.database.query<{ count: number }>(
    "select count from throttles where key like 'sign-in:%'",
    [],
  );
  expect(new Set(failures.map(({ count }) => count))).toEqual(new Set([0]));
  expect((await from("2001:db8:0:1::9")).status).toBe(200);
});

describe("a setup link that is none", () => {
  const setUp = (h: Harness, token: string) =>
    h.request("/api/setup", { method: "POST", json: { token, email, password }, headers: { "User-Agent": "test/1" } });

  test("is in the installation's log, at most once a minute, without the token", async () => {
    const h = await harness();
    await issueSetupToken(h.services);
    expect((await setUp(h, "guess-1")).status).toBe(401);
    expect((await setUp(h, "guess-2")).status).toBe(401);
    expect((await h.request("/api/setup?token=guess-3")).status).toBe(200);
    const entries = await entriesOf(h);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      action: "installation.setup",
      organizationId: null,
      actorType: "system",
      actorId: null,
      target: "setup link",
      success: false,
      ip: "192.0.2.1",
      summary: { userAgent: "test/1" },
    });
    expect(JSON.stringify(entries)).not.toContain("guess");
    await h.clock.advance(minute);
    expect((await h.request("/api/setup?token=guess-4")).status).toBe(200);
    expect(await entriesOf(h)).toHaveLength(2);
  });

  test("is not what a visit without one is, nor one to an installation that is owned", async () => {
    const h = await harness();
    expect((await h.request("/api/setup")).status).toBe(200);
    await createUser(h, email);
    expect((await setUp(h, "guess")).status).toBe(409);
    expect((await h.request("/api/setup?token=guess")).status).toBe(200);
    expect(await entriesOf(h)).toEqual([]);
  });
});
