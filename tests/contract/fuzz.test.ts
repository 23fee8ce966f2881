import fc from "fast-check";
import { expect, test } from "vitest";
import { bearer, pathOf } from "./call.ts";
import { editions, patience, prepare } from "./cases.ts";
import { columnNames, marks, planted } from "./columns.ts";
import { isGuarded, isWrite } from "./document.ts";
import { objectsOf, oddBody, oddText, serialise, toTree } from "./odd.ts";
import { intrusions } from "./ownership.ts";
import { openRoutes } from "./routes.ts";
import { compare, takeSnapshot } from "./rows.ts";
import { besieged, damage, jsonSchema, send } from "./siege.ts";

/** More cases than in each run of the suite. */
const runs = Number(process.env.FUZZ_RUNS ?? 15);
/** Of paths, queries and headers, which every route has. */
const addresses = Math.ceil(runs / 2);

test.each(editions)(
  "in the %s edition, no column can be set by naming it in a body",
  async (edition) => {
    const siege = await besieged(edition);
    const { world, all, document, owner, stranger } = siege;
    const values = planted(world.other, stranger);
    const found: string[] = [];
    for (const one of all.filter(jsonSchema)) {
      const { params, json } = await prepare(world, one, world.acme, owner);
      const tree = toTree(json);
      for (const [object, names] of objectsOf(document, tree, jsonSchema(one))) {
        if (tree instanceof Map && object === tree.get(one.entry.closed ?? "")) continue;
        for (const [name, value] of values) {
          if (!names.includes(name) && !object.has(name) && !one.entry.refuses?.includes(name))
            object.set(name, toTree(value));
        }
      }
      const headers = bearer(await world.session(owner));
      const { changes, found: harm } = await damage(one, siege, params.slug, async () => {
        const { status, text } = await send(world, one, pathOf(one, params), headers, serialise(tree));
        if (status !== one.entry.status && !one.entry.freeForm) found.push(`${one.name}: ${status} ${text}`);
      });
      const stored = one.entry.freeForm ? [] : changes.filter(({ after }) => marks.some(within(after)));
      found.push(...harm, ...stored.map((change) => `${one.name} stored ${JSON.stringify(change)}`));
    }
    expect(found).toEqual([]);
  },
  patience,
);

const within = (row: unknown) => (mark: string) => JSON.stringify(row)?.includes(mark) ?? false;

test.each(editions)(
  "in the %s edition, no body is a 500, and none changes what is not its route's",
  async (edition) => {
    const siege = await besieged(edition);
    const { world, all, document, owner } = siege;
    const found: string[] = [];
    for (const one of all.filter(jsonSchema)) {
      const { params, json } = await prepare(world, one, world.acme, owner);
      const headers = bearer(await world.session(owner));
      // For routes that create something, each with a name of its own: else all but the first collide.
      const more = Array.from({ length: one.entry.status === 201 ? runs : 0 }, () =>
        prepare(world, one, world.acme, owner),
      );
      const good = [json, ...(await Promise.all(more)).map((prepared) => prepared.json)];
      const bodies = oddBody(document, good, jsonSchema(one), columnNames);
      const property = fc.asyncProperty(bodies, async (body) => {
        await send(world, one, pathOf(one, params), headers, body);
      });
      const { found: harm } = await damage(one, siege, params.slug, () => fc.assert(property, { numRuns: runs }));
      found.push(...harm);
    }
    expect(found).toEqual([]);
  },
  patience,
);

test(
  "no body of anybody's is a 500, and none changes what is another organization's",
  async () => {
    const { world, list, document, foreign } = await besieged();
    const agent = await world.h.agent();
    const before = await takeSnapshot(world.h.services.database);
    for (const route of list.filter((one) => jsonSchema(one) && !isGuarded(one))) {
      const bodies = oddBody(document, [openRoutes[route.name]?.(agent.slug)], jsonSchema(route), columnNames);
      const property = fc.asyncProperty(bodies, async (body) => {
        await send(world, route, pathOf(route, { slug: agent.slug }), bearer(agent.key), body);
      });
      await fc.assert(property, { numRuns: runs });
    }
    const changes = compare(before, await takeSnapshot(world.h.services.database));
    expect(intrusions(changes, foreign)).toEqual([]);
    expect(changes.map(({ table }) => table)).toContain("turns");
  },
  patience,
);

test.each(editions)(
  "in the %s edition, no path, query string or header is a 500, and none changes what is not its route's",
  async (edition) => {
    const siege = await besieged(edition);
    const { world, all, owner } = siege;
    const names = ["If-Match", "If-None-Match", "X-Organization", "X-Request-Id", "Content-Type", "Origin", "Range"];
    const more = [
      "Accept",
      "Cookie",
      "User-Agent",
      "X-Forwarded-For",
      "X-Forwarded-Proto",
      "Last-Event-ID",
      "X-Chat-Id",
    ];
    const found: string[] = [];
    for (const one of all) {
      const prepared = await prepare(world, one, world.acme, owner);
      const body = isWrite(one) && jsonSchema(one) ? JSON.stringify(prepared.json) : undefined;
      // A route that ends sessions gets one each; the others may make none, which the snapshots would show.
      const endsSessions = one.entry.owns?.includes("access_tokens");
      const shared = await world.session(owner);
      const ids = [...one.path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);
      const queries = (one.operation.parameters ?? []).filter((parameter) => parameter.in === "query");
      const attack = fc.record({
        id: fc.tuple(fc.option(fc.constantFrom("", ...ids)), oddText),
        query: fc.array(fc.tuple(fc.constantFrom("limit", "__proto__", ...queries.map(({ name }) => name)), oddText)),
        headers: fc.array(fc.tuple(fc.constantFrom(...names, ...more), oddText), { maxLength: 3 }),
      });
      const property = fc.asyncProperty(attack, async ({ id: [name, text], query, headers }) => {
        const params = name === null ? prepared.params : { ...prepared.params, [name]: text.toWellFormed() };
        const search = query.map(([key, value]) => `${key}=${encodeURIComponent(value.toWellFormed())}`).join("&");
        const legal = headers.filter(([, value]) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value));
        const session = bearer(endsSessions ? await world.session(owner) : shared);
        const path = `${pathOf(one, params)}${search ? `?${search}` : ""}`;
        await send(world, one, path, { ...session, ...Object.fromEntries(legal) }, body);
      });
      const attacked = () => fc.assert(property, { numRuns: addresses });
      const { found: harm } = await damage(one, siege, prepared.params.slug, attacked);
      found.push(...harm);
    }
    expect(found).toEqual([]);
  },
  patience,
);
