import { expect, test } from "vitest";
import { type Permission, permissions, type RoleKey, roles } from "../../src/core/credentials/permissions.ts";
import { auditLogs } from "../../src/db/schema.ts";
import { type Answer, addressing, bearer, call, cookie, findings, type Headers, ownOrigin } from "./call.ts";
import { attempt, type Case, cases, editions, patience, prepare } from "./cases.ts";
import { worthless } from "./credentials.ts";
import { isGuarded, isWrite } from "./document.ts";
import type { Prepared } from "./requests.ts";
import { openRoutes, routes, undocumented } from "./routes.ts";
import { type Home, type Person, permissionsOf, roleKeys, type World } from "./world.ts";

const everyone = async ({ person, acme }: World) =>
  Object.fromEntries(await Promise.all(roleKeys.map(async (role) => [role, await person(role, acme)]))) as Record<
    RoleKey,
    Person
  >;

/** In the managed edition, `policy:manage` belongs to Platform Admins alone. */
const may = ({ permission }: Case, role: RoleKey, edition: string) =>
  permission === null || (roles[role].has(permission) && (edition === "open" || permission !== "policy:manage"));
/** A request without the objects it needs, for a caller who is refused before they are looked for. */
const bare = ({ path }: Case, { slug: orgSlug, agentSlug: slug }: Home): Prepared => {
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => [name, "x"]);
  return { params: { ...Object.fromEntries(names), orgSlug, slug }, json: {} };
};

const missing = ({ permission }: Case) => `Missing permission: ${permission}`;

test("every guarded route has an entry, every entry a route, and its scope is that of its path", async () => {
  const { guarded } = await cases();
  expect(guarded.map(({ name }) => name).sort()).toEqual(Object.keys(routes).sort());
  for (const [name, { scope }] of Object.entries(routes)) {
    expect(scope === "agent", name).toBe(/instances\/\{slug\}|conversations\/\{|models\/\{/.test(name));
    if (name.includes("{orgSlug}")) expect(scope, name).toBe("organization");
  }
});

test("routes that are neither guarded nor documented are listed by name", async () => {
  const { world, list } = await cases();
  const unguarded = list.filter((route) => !isGuarded(route)).map(({ name }) => name);
  expect(unguarded.sort()).toEqual(Object.keys(openRoutes).sort());
  const served = world.h.engine.app.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path.replaceAll(/:([^/]+)/g, "{$1}")}`);
  const documented = new Set(list.map(({ name }) => name));
  const hidden = [...new Set(served)].filter((name) => !documented.has(name));
  expect(hidden.sort()).toEqual([...undocumented].sort());
});

test.each(editions)(
  "in the %s edition, a caller without a valid credential is refused",
  async (edition) => {
    const { world, all } = await cases({ edition });
    const { found, expectStatus, expectError } = findings();
    const owner = await world.person("owner", world.acme);
    const agent = await world.h.agent();
    const chatKey = bearer(agent.key);
    const credentials = Object.entries(await worthless(world, owner));
    for (const one of all) {
      const prepared = await prepare(world, one, world.acme, owner);
      for (const [label, headers] of credentials) {
        const answer = await call(world, one, prepared, headers);
        expectStatus(`${one.name} with ${label}`, answer, 401);
        expectError(`${one.name} with ${label}`, answer, "Unauthorized");
      }
      // The key of an agent opens the chat, and nothing else.
      const ofAgent =
        one.key === "unknown" ? { ...prepared, params: { ...prepared.params, id: agent.slug } } : prepared;
      const chat = await call(world, one, ofAgent, chatKey);
      expectStatus(`${one.name} with an agent's key`, chat, one.key === "unknown" ? 200 : 401);
    }
    expect(found).toEqual([]);
  },
  patience,
);

test.each(editions)(
  "in the %s edition, each role may do what its permissions say, by bearer token and by cookie alike",
  async (edition) => {
    const { world, chief, all } = await cases({ edition });
    const { found, expectStatus, expectMessage } = findings();
    const { acme: home } = world;
    const people = await everyone(world);
    for (const one of all) {
      for (const role of roleKeys) {
        for (const headers of [bearer, (token: string) => ({ ...cookie(token), ...ownOrigin })]) {
          const caller = people[role];
          const label = `${role}: ${one.name}`;
          if (may(one, role, edition)) {
            expectStatus(label, await attempt(world, one, { home, caller, headers }), one.entry.status);
          } else {
            const answer = await call(world, one, bare(one, home), headers(await world.session(caller)));
            expectMessage(label, answer, 403, missing(one));
          }
        }
      }
      if (edition === "open") continue;
      const answer = await attempt(world, one, { home, caller: chief, headers: bearer });
      expectStatus(`chief: ${one.name}`, answer, one.entry.status);
    }
    expect(found).toEqual([]);
  },
  patience,
);

test(
  "an organization's own roles may do what their permissions say, of every route",
  async () => {
    const { world, every } = await cases({ edition: "managed" });
    const { found, expectStatus, expectMessage } = findings();
    const { acme: home } = world;
    for (const role of ["auditor", "support", "builder"] as const) {
      const caller = await world.person(role, home);
      const held = permissionsOf(role);
      const session = bearer(await world.session(caller));
      for (const one of every) {
        const label = `${role}: ${one.name}`;
        if (one.permission === null) continue;
        if (!held.has(one.permission))
          expectMessage(label, await call(world, one, bare(one, home), session), 403, missing(one));
        else expectStatus(label, await attempt(world, one, { home, caller, headers: bearer }), one.entry.status);
      }
    }
    expect(found).toEqual([]);
  },
  patience,
);

test.each(editions)(
  "in the %s edition, a management key may do the same as an Owner, except for routes that need a session",
  async (edition) => {
    const { world, chief, all } = await cases({ edition });
    const { found, expectStatus, expectMessage } = findings();
    const { token } = await world.key(world.acme);
    for (const one of all) {
      const { params, ...prepared } = await prepare(world, one, world.acme, chief);
      // An organization other than the key's is a 404.
      const addressed = { ...prepared, params: { ...params, orgSlug: world.acme.slug } };
      const answer = await call(world, one, addressed, bearer(token));
      if (one.key === "owner") expectStatus(one.name, answer, one.entry.status);
      else if (one.key === "powerless") expectMessage(one.name, answer, 403, missing(one));
      else if (one.key === "unknown") expectStatus(one.name, answer, 401);
      else if (one.key === "itself") expectMessage(one.name, answer, 403, "A management key can revoke only itself");
      else expectMessage(one.name, answer, 403, "This route needs a signed-in session");
    }
    expect(found).toEqual([]);
  },
  patience,
);

test(
  "a personal token may do what its holder and its permissions allow, except for routes that need a session",
  async () => {
    const { world, chief, every } = await cases({ edition: "managed" });
    const { found, expectStatus, expectMessage } = findings();
    const { acme: home } = world;
    const owner = await world.person("owner", home);
    const narrowed: Permission[] = permissions.filter((permission) => !/:delete$|^org\.[ps]/.test(permission));
    const ofOwner = await world.personalToken(owner, { organizationId: home.id, permissions: narrowed });
    const across = await world.personalToken(chief, {});
    const sessionNeeded = "This route needs a signed-in session";
    const crossing = "This route refuses tokens that work across organizations";
    for (const one of every) {
      const without = bare(one, home);
      const needsSession = one.key === "refused" || one.key === "itself";
      const narrow = narrowed.some((permission) => permission === one.permission) && may(one, "owner", "managed");
      if (one.key === "unknown") expectStatus(`token: ${one.name}`, await call(world, one, without, ofOwner), 401);
      else if (needsSession) expectMessage(one.name, await call(world, one, without, ofOwner), 403, sessionNeeded);
      else if (!narrow) expectMessage(one.name, await call(world, one, without, ofOwner), 403, missing(one));
      else {
        const { params, ...prepared } = await prepare(world, one, home, owner);
        const addressed = { ...prepared, params: { ...params, orgSlug: home.slug } };
        expectStatus(`token: ${one.name}`, await call(world, one, addressed, ofOwner), one.entry.status);
      }
      const acrossHome = { ...across, ...addressing(home.slug) };
      if (needsSession || one.entry.oneOrganization) {
        expectMessage(`across: ${one.name}`, await call(world, one, without, acrossHome), 403, crossing);
      } else if (one.entry.scope !== "agent" && one.key !== "unknown") {
        const anew = await prepare(world, one, home, chief);
        const beyond = await call(world, one, anew, { ...across, ...addressing(anew.params.orgSlug ?? "") });
        expectStatus(`across: ${one.name}`, beyond, one.entry.status);
      }
    }
    expect(found).toEqual([]);
  },
  patience,
);

test.each(editions)(
  "in the %s edition, a cookie from a foreign page, or from nowhere, writes nothing; it reads",
  async (edition) => {
    const { world, chief, all } = await cases({ edition });
    const { found, expectStatus, expectMessage } = findings();
    const refusal = "Origin is missing or foreign: use the session cookie from this server's own pages only";
    const session = await world.session(chief);
    const origins: Headers[] = [{}, { Origin: "https://elsewhere.example" }, { Origin: "null" }];
    for (const one of all) {
      for (const origin of origins) {
        const headers = (token: string) => ({ ...cookie(token), ...origin });
        const label = `${one.name} with ${JSON.stringify(origin)}`;
        if (isWrite(one)) {
          const answer = await call(world, one, bare(one, world.acme), headers(session));
          expectMessage(label, answer, 403, refusal);
        } else {
          const answer = await attempt(world, one, { home: world.acme, caller: chief, headers });
          expectStatus(label, answer, one.entry.status);
        }
      }
    }
    expect(found).toEqual([]);
  },
  patience,
);

test.each(editions)(
  "in the %s edition, each write that went well is in the audit log under its actor's name, and so are refusals; most reads are not",
  async (edition) => {
    const { world, chief, all } = await cases({ edition });
    const { id: keyId, token } = await world.key(world.acme);
    const expected: { label: string; answer: Answer; actor: string | null }[] = [];
    for (const one of all) {
      const audited = isWrite(one) ? !one.entry.unaudited : one.entry.audited === true;
      // Only a limited number of one caller's refusals is logged.
      for (const caller of [chief, await world.person("viewer", world.acme)]) {
        const answer = await attempt(world, one, { home: world.acme, caller, headers: bearer });
        const actor = (audited && answer.status < 300) || answer.status === 403 ? caller.id : null;
        expected.push({ label: `${caller.role}: ${one.name}`, answer, actor });
      }
      if (one.key !== "owner") continue;
      const answer = await call(world, one, await prepare(world, one, world.acme, chief), bearer(token));
      expected.push({ label: `key: ${one.name}`, answer, actor: audited ? keyId : null });
    }
    const rows = await world.db.select().from(auditLogs).orderBy(auditLogs.id);
    const found = expected.flatMap(({ label, answer, actor }) => {
      const actors = new Set(rows.filter((row) => row.requestId === answer.requestId).map((row) => row.actorId));
      const wanted = actor === null ? [] : [actor];
      return JSON.stringify([...actors]) === JSON.stringify(wanted) ? [] : [`${label}: ${[...actors]} not ${wanted}`];
    });
    expect(found).toEqual([]);
  },
  patience,
);
