import { createSocket } from "node:dgram";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { addressesIn, resolveBySystem } from "../../src/adapters/node/egress/names.ts";

const dns = vi.hoisted(() => ({
  server: "",
  asked: [] as string[],
  pending: [] as (() => void)[],
  /** Whether DNS queries are lost: their promises never settle, cancelled or not. */
  loses: false,
  lost: [] as string[],
}));
vi.mock("node:dns/promises", async (load) => {
  const real = await load<typeof import("node:dns/promises")>();
  class LocalResolver extends real.Resolver {
    constructor(options: ConstructorParameters<typeof real.Resolver>[0]) {
      super(options);
      this.setServers([dns.server]);
      if (dns.loses) this.resolve4 = this.resolve6 = (name: string) => new Promise<never>(() => dns.lost.push(name));
    }
  }
  const lookup = (name: string) => {
    dns.asked.push(name);
    return new Promise((resolve) => dns.pending.push(() => resolve([{ address: "10.0.0.1", family: 4 }])));
  };
  return { ...real, Resolver: LocalResolver, lookup };
});
beforeEach(() => {
  dns.asked.length = 0;
  dns.pending.length = 0;
  dns.lost.length = 0;
  dns.loses = false;
});

const never = new AbortController().signal;

/** A DNS server that knows the names under known.test, is silent about slow.test, and denies all others. */
async function nameServer(): Promise<void> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    if (query.includes("slow")) return;
    const type = query.readUInt16BE(query.indexOf(0, 12) + 1);
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const known = query.includes("known");
    const address4 = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2, 1]);
    const found = known && type === 1;
    const header = Buffer.from([
      query[0] ?? 0,
      query[1] ?? 0,
      0x81,
      known ? 0x80 : 0x83,
      0,
      1,
      0,
      found ? 1 : 0,
      0,
      0,
      0,
      0,
    ]);
    socket.send(Buffer.concat([header, question, ...(found ? [address4] : [])]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => void socket.close());
  dns.server = `127.0.0.1:${socket.address().port}`;
}

test("a file of hosts has names, aliases and comments", () => {
  const hosts =
    "# all\n127.0.0.1\tlocalhost\n::1 localhost ip6-localhost # x db\n fe80::1%lo0 localhost\r\n10.0.0.7 DB db.lan\r\n";
  expect(addressesIn(hosts, "localhost")).toEqual(["127.0.0.1", "::1"]);
  expect(addressesIn(hosts, "db")).toEqual(["10.0.0.7"]);
  expect(addressesIn(hosts, "Db.Lan.")).toEqual(["10.0.0.7"]);
  for (const name of ["10.0.0.7", "lan", "x", "", "all"]) expect(addressesIn(hosts, name), name).toEqual([]);
});

test("DNS is asked without a thread, and the system only for names unknown there, one name at a time", async () => {
  await nameServer();
  expect(await resolveBySystem("known.test", never)).toEqual(["192.0.2.1"]);
  expect(dns.asked).toEqual([]);
  const controller = new AbortController();
  const first = resolveBySystem("one.test", never);
  await expect.poll(() => dns.asked).toEqual(["one.test"]);
  const second = resolveBySystem("two.test", controller.signal);
  const third = resolveBySystem("three.test", never);
  expect(await resolveBySystem("known.test", never)).toEqual(["192.0.2.1"]);
  expect(dns.asked).toEqual(["one.test"]);
  controller.abort(new Error("no longer"));
  dns.pending.shift()?.();
  expect(await first).toEqual(["10.0.0.1"]);
  await expect(second).rejects.toThrow("no longer");
  await expect.poll(() => dns.asked).toEqual(["one.test", "three.test"]);
  dns.pending.shift()?.();
  expect(await third).toEqual(["10.0.0.1"]);
});

test("many names whose servers are silent hold up no other, and an abort ends the wait", async () => {
  await nameServer();
  const controller = new AbortController();
  const slow = Array.from({ length: 20 }, (_, n) => resolveBySystem(`slow${n}.test`, controller.signal));
  const ended = Promise.allSettled(slow);
  expect(await resolveBySystem("known.test", never)).toEqual(["192.0.2.1"]);
  const started = performance.now();
  controller.abort(new Error("stopped"));
  expect((await ended).every((one) => one.status === "rejected" && one.reason.message === "stopped")).toBe(true);
  // The name servers themselves get a longer wait.
  expect(performance.now() - started).toBeLessThan(3_500);
  expect(dns.asked).toEqual([]);
});

test("an abort ends the wait for DNS though its answer never settles", async () => {
  await nameServer();
  dns.loses = true;
  const controller = new AbortController();
  const answer = resolveBySystem("lost.test", controller.signal);
  await expect.poll(() => dns.lost).toEqual(["lost.test", "lost.test"]);
  controller.abort(new Error("stopped"));
  await expect(answer).rejects.toThrow("stopped");
});

test("an abort ends the wait for the system, although others wait for the same name", async () => {
  await nameServer();
  const controllers = [new AbortController(), new AbortController()];
  const answers = controllers.map(({ signal }, n) => resolveBySystem(`never${n}.test`, signal));
  // One of the two is looked up, the other one is queued.
  await expect.poll(() => dns.asked).toHaveLength(1);
  for (const controller of controllers) controller.abort(new Error("no longer"));
  expect(await Promise.allSettled(answers)).toMatchObject(
    [0, 1].map(() => ({ status: "rejected", reason: { message: "no longer" } })),
  );
  dns.pending.shift()?.();
  const next = resolveBySystem("next.test", never);
  await expect.poll(() => dns.asked[1]).toBe("next.test");
  dns.pending.shift()?.();
  expect(await next).toEqual(["10.0.0.1"]);
});
