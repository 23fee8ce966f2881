import { expect, test } from "vitest";
import { newId } from "../../src/core/ids.ts";
import { addressing, bearer, call, findings, type Headers } from "./call.ts";
import { type Case, cases, editions, patience, prepare } from "./cases.ts";
import type { Prepared } from "./requests.ts";
import { type Person, permissionsOf } from "./world.ts";

/** Ids of missing objects, in valid form. */
const nowhere = { slug: "nowhere", orgSlug: "nowhere", id: newId() };
const absent = (name: string) => (name === "slug" || name === "orgSlug" ? nowhere[name] : nowhere.id);

const within = (value: Required<Prepared>, field: "params" | "json", change: Record<string, unknown>) =>
  ({ ...value, [field]: { ...value[field], ...change } }) as Required<Prepared>;

/** The requests from `own` for one object of `foreign`, each with the same request for a missing one. */
function reaching({ path, entry }: Case, own: Required<Prepared>, foreign: Required<Prepared>) {
  const { names = [], things = [] } = entry;
  const params = [...path.matchAll(/\{([^}]+)\}/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !names.includes(name));
  return [
    ...params.map((name) => ({
      name,
      foreign: within(own, "params", { [name]: foreign.params[name] }),
      missing: within(own, "params", { [name]: absent(name) }),
    })),
    ...things.map((name) => ({
      name,
      foreign: within(own, "json", { [name]: foreign.json[name] }),
      missing: within(own, "json", { [name]: absent(name) }),
    })),
  ];
}

test.each(editions)(
  "in the %s edition, an object of another organization gets the same 404, byte for byte, as one that doesn't exist",
  async (edition) => {
    const { world, all } = await cases({ edition });
    const { found, expectStatus, expectSame } = findings();
    const [mine, theirs] = [await world.person("owner", world.other), await world.person("owner", world.acme)];
    const key = bearer((await world.key(world.other)).token);
    let compared = 0;
    for (const one of all.filter(({ entry }) => entry.scope !== "installation")) {
      const callers: Headers[] = one.key === "owner" ? [key] : [];
      const foreign = await prepare(world, one, world.acme, theirs);
      const own = await prepare(world, one, world.other, mine);
      for (const { name, ...requests } of reaching(one, own, foreign)) {
        for (const headers of [bearer(await world.session(mine)), ...callers]) {
          const answer = await call(world, one, requests.foreign, headers);
          expectStatus(`${one.name} for a foreign ${name}`, answer, 404);
          expectSame(`${one.name} for ${name}`, answer, await call(world, one, requests.missing, headers));
          compared += 1;
        }
      }
      // All of it foreign at once, as an attacker with the address would try.
      if (!one.path.includes("{") || one.entry.scope === "self") continue;
      expectStatus(one.name, await call(world, one, foreign, bearer(await world.session(mine))), 404);
    }
    expect(found).toEqual([]);
    expect(compared).toBeGreaterThan(edition === "open" ? 30 : 1);
  },
  patience,
);

test.each(editions)(
  "in the %s edition, a route that reads one organization reveals nothing of another",
  async (edition) => {
    const { world, all } = await cases({ edition });
    const { acme, annex, other } = world;
    const [owner, neighbour] = [await world.person("owner", other), await world.person("owner", acme)];
    const secrets = [acme, annex].flatMap((home) => [home.id, home.workspaceId, home.agentId, home.agentSlug]);
    const found: string[] = [];
    const key = bearer((await world.key(other)).token);
    for (const one of all) {
      if (one.entry.scope === "installation") continue;
      // An object of every kind that this route reads, on both sides.
      await call(world, one, await prepare(world, one, acme, neighbour), bearer(await world.session(neighbour)));
      for (const headers of [bearer(await world.session(owner)), ...(one.key === "owner" ? [key] : [])]) {
        const { status, text } = await call(world, one, await prepare(world, one, other, owner), headers);
        if (status !== one.entry.status) found.push(`${one.name}: ${status} ${text}`);
        const shown = [...secrets, neighbour.id, neighbour.email].filter((secret) => text.includes(secret));
        if (shown.length > 0) found.push(`${one.name} shows ${shown}: ${text}`);
      }
    }
    expect(found).toEqual([]);
  },
  patience,
);

test.each(editions)(
  "in the %s edition, an agent in a workspace that a Member or Viewer does not reach is not there, to the byte",
  async (edition) => {
    const { world, all } = await cases({ edition });
    const { acme, annex } = world;
    const { found, expectStatus, expectSame } = findings();
    const stranded = { reach: false };
    const callers: Person[] = [
      ...[await world.person("member", acme), await world.person("viewer", acme)],
      ...[await world.person("member", acme, stranded), await world.person("viewer", acme, stranded)],
      ...(edition === "open" ? [] : [await world.person("builder", acme)]),
    ];
    for (const one of all.filter(({ entry }) => tenantAgent(entry.scope, entry.things))) {
      for (const caller of callers) {
        if (one.permission && !permissionsOf(caller.role).has(one.permission)) continue;
        const headers = bearer(await world.session(caller));
        const hidden = await prepare(world, one, annex, caller);
        const own = await prepare(world, one, acme, caller);
        for (const { name, foreign, missing } of reaching(one, own, hidden)) {
          if (one.entry.shared?.includes(name)) continue;
          const answer = await call(world, one, foreign, headers);
          expectStatus(`${caller.role}: ${one.name} for a ${name} out of reach`, answer, 404);
          expectSame(`${caller.role}: ${one.name} for ${name}`, answer, await call(world, one, missing, headers));
        }
      }
    }
    expect(found).toEqual([]);
  },
  patience,
);

const tenantAgent = (scope: string, things: readonly string[] = []) =>
  scope === "agent" || things.includes("workspaceId");

test.each(editions)(
  "in the %s edition, an organization that is addressed and not one's own is not there, to the byte, for people and keys",
  async (edition) => {
    const { world, all } = await cases({ edition });
    const { acme, other } = world;
    const { found, expectMessage, expectSame } = findings();
    const owner = await world.person("owner", other);
    const { token } = await world.key(other);
    for (const one of all) {
      const prepared = await prepare(world, one, acme, owner);
      for (const credential of [await world.session(owner), ...(one.key === "unknown" ? [] : [token])]) {
        const answer = await call(world, one, prepared, { ...bearer(credential), ...addressing(acme.slug) });
        expectMessage(one.name, answer, 404, "Organization not found");
        const missing = within(prepared, "params", { orgSlug: nowhere.orgSlug });
        const headers = { ...bearer(credential), ...addressing(nowhere.orgSlug) };
        expectSame(one.name, answer, await call(world, one, missing, headers));
      }
    }
    expect(found).toEqual([]);
  },
  patience,
);

test.each(editions)(
  "in the %s edition, routes about the installation need the permission in the first organization",
  async (edition) => {
    const { world, all } = await cases({ edition });
    const { found, expectMessage } = findings();
    const owner = await world.person("owner", world.other);
    const { token } = await world.key(world.other);
    for (const one of all.filter(({ entry }) => entry.scope === "installation")) {
      for (const credential of [await world.session(owner), ...(one.key === "owner" ? [token] : [])]) {
        for (const header of [{}, addressing(world.other.slug)]) {
          const prepared = await prepare(world, one, world.other, owner);
          const answer = await call(world, one, prepared, { ...bearer(credential), ...header });
          expectMessage(one.name, answer, 403, `Missing permission: ${one.permission}`);
        }
      }
    }
    expect(found).toEqual([]);
  },
  patience,
);

test(
  "a Platform Admin who is a member of none may call every route of any organization",
  async () => {
    const { world, chief, every } = await cases({ edition: "managed" });
    const { found, expectStatus } = findings();
    const admin = { ...chief, home: world.other };
    for (const one of every) {
      const prepared = await prepare(world, one, world.other, admin);
      const headers = { ...bearer(await world.session(admin)), ...addressing(prepared.params.orgSlug ?? "") };
      const answer = await call(world, one, prepared, headers);
      expectStatus(one.name, answer, one.entry.status);
    }
    expect(found).toEqual([]);
  },
  patience,
);
