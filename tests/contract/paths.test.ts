import { ne } from "drizzle-orm";
import { expect, test } from "vitest";
import { roles } from "../../src/core/credentials/permissions.ts";
import { auditLogs } from "../../src/db/schema.ts";
import { pathOf } from "./call.ts";
import { cases, editions, patience, prepare } from "./cases.ts";
import { isWrite } from "./document.ts";
import { rawClient } from "./raw.ts";
import { spellings } from "./spellings.ts";

const good = (status: number) => status >= 200 && status < 300;

test.each(editions)(
  "in the %s edition, no spelling of a guarded path lets in who brings nothing",
  async (edition) => {
    const { world, all } = await cases({ edition });
    const send = rawClient(await world.h.listen());
    const owner = await world.person("owner", world.acme);
    const found: string[] = [];
    for (const one of all) {
      const { params, json } = await prepare(world, one, world.acme, owner);
      const body = isWrite(one) ? { json } : {};
      const sent = spellings(pathOf(one, params)).map(async (path) => {
        const status = await send({ method: one.method, path, ...body });
        if (good(status) || status >= 500) found.push(`${one.method} ${path}: ${status}`);
      });
      await Promise.all(sent);
    }
    expect(found).toEqual([]);
  },
  patience,
);

test.each(editions)(
  "in the %s edition, no spelling of a guarded path takes a Viewer further than the path itself",
  async (edition) => {
    const { world, all } = await cases({ edition });
    const send = rawClient(await world.h.listen());
    const viewer = await world.person("viewer", world.acme);
    const found: string[] = [];
    for (const one of all) {
      // The permission doesn't allow it in a workspace that this Viewer does not reach.
      const permitted = one.permission === null || roles.viewer.has(one.permission);
      const home = one.entry.scope === "agent" && permitted ? world.annex : world.acme;
      const { params, json } = await prepare(world, one, home, viewer);
      const exact = pathOf(one, params);
      const session = async () => ["Authorization", `Bearer ${await world.session(viewer)}`];
      const body = isWrite(one) ? { json } : {};
      if (good(await send({ method: one.method, path: exact, headers: await session(), ...body }))) continue;
      const headers = await session();
      const sent = spellings(exact).map(async (path) => {
        const status = await send({ method: one.method, path, headers, ...body });
        if (good(status) || status >= 500) found.push(`${one.method} ${path}: ${status}`);
      });
      await Promise.all(sent);
    }
    expect(found).toEqual([]);
  },
  patience,
);

test("no other method opens a guarded path, nor a header that names another", async () => {
  const { world, all } = await cases();
  const send = rawClient(await world.h.listen());
  const owner = await world.person("owner", world.acme);
  const viewer = await world.person("viewer", world.acme);
  const found: string[] = [];
  for (const one of all) {
    const { params } = await prepare(world, one, world.acme, owner);
    const path = pathOf(one, params);
    for (const method of ["HEAD", "OPTIONS", "TRACE", "PROPFIND"]) {
      // The chat's own CORS answer to browsers, which is empty.
      if (method === "OPTIONS" && path.startsWith("/v1/")) continue;
      const status = await send({ method, path });
      if (good(status) || status >= 500) found.push(`${method} ${path}: ${status}`);
    }
    if (!isWrite(one)) continue;
    // A read that claims to be a write is a read.
    for (const name of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
      const headers = ["Authorization", `Bearer ${await world.session(viewer)}`, name, one.method];
      const status = await send({ method: "GET", path: `${path}?_method=${one.method}`, headers });
      if (status >= 500) found.push(`${name} ${one.method} ${path}: ${status}`);
    }
  }
  expect(await world.db.select().from(auditLogs).where(ne(auditLogs.action, "access.refuse"))).toEqual([]);
  expect(found).toEqual([]);
});

test(
  "an Authorization header that is repeated or odd is refused on every guarded route",
  async () => {
    const { world, all } = await cases();
    const send = rawClient(await world.h.listen());
    const owner = await world.person("owner", world.acme);
    const token = await world.session(owner);
    const twice = (value: string) => ["Authorization", value, "Authorization", value];
    const odd: string[][] = [
      twice(`Bearer ${token}`),
      ["Authorization", `Bearer ${token}`, "Authorization", "Bearer other"],
      ["Authorization", "Basic eDp5", "authorization", `Bearer ${token}`],
      ...["", "Bearer", "Bearer ", `Bearer\t${token}`, `Bearer ${token} x`, `Bearer Bearer ${token}`, token].map(
        (value) => ["Authorization", value],
      ),
      ...[
        `Basic ${btoa(`x:${token}`)}`,
        `Bearer ${token},`,
        `Bearer ${token}, Bearer ${token}`,
        `Bearer "${token}"`,
      ].map((value) => ["Authorization", value]),
      ...[`Bearer: ${token}`, `Token ${token}`, `Bearer=${token}`, `Digest username="x"`].map((value) => [
        "Authorization",
        value,
      ]),
      ["Proxy-Authorization", `Bearer ${token}`],
      ["X-Api-Key", token],
    ];
    const found: string[] = [];
    for (const one of all) {
      const { params, json } = await prepare(world, one, world.acme, owner);
      const body = isWrite(one) ? { json } : {};
      for (const headers of odd) {
        // A bearer token takes precedence: a valid cookie next to it changes nothing.
        for (const more of [[], ["Cookie", `agent_engine.session_token=${token}`, "Origin", "http://localhost"]]) {
          if (more.length > 0 && headers[0] !== "Authorization") continue;
          const path = pathOf(one, params);
          const status = await send({ method: one.method, path, headers: [...headers, ...more], ...body });
          if (status !== 401) found.push(`${one.name} with ${headers} ${more}: ${status}`);
        }
      }
    }
    expect(found).toEqual([]);
    const me = (value: string) => send({ method: "GET", path: "/api/me", headers: ["authorization", value] });
    expect(await me(`bearer ${token}`)).toBe(200);
    expect(await me(`BEARER   ${token}`)).toBe(200);
  },
  patience,
);
