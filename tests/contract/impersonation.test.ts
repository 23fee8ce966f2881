import { asc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { auditLogs, turns } from "../../src/db/schema.ts";
import { createOpening } from "../../src/http/opening.ts";
import { json, router, unguarded } from "../../src/http/route.ts";
import { Deleted } from "../../src/http/shapes.ts";
import { issueToken } from "../features/account/people.ts";
import { bearer, call, cookie, findings, ownOrigin, pathOf } from "./call.ts";
import { cases, patience, prepare } from "./cases.ts";

/** The Owner of acme, seen by a Platform Admin. */
async function impersonated() {
  const all = await cases({ edition: "managed" });
  const { world, chief } = all;
  const person = await world.person("owner", world.acme);
  const { token } = await issueToken(world.h, person.id, { kind: "impersonation", createdBy: chief.id });
  return { ...all, person, token };
}

const refusal = "Impersonation is read-only";

test(
  "an impersonation may send nothing but GET and HEAD, to no route of the document, guarded or not",
  async () => {
    const { world, list, token } = await impersonated();
    const { found, expectMessage } = findings();
    const params = { slug: world.acme.agentSlug, orgSlug: world.acme.slug, id: world.acme.agentId, type: "telegram" };
    const writes = list.filter(({ method, path }) => method !== "GET" && path !== "/api/auth/stop-impersonating");
    expect(writes.length).toBeGreaterThan(100);
    for (const route of writes) {
      const path = { ...route, path: pathOf(route, params).replaceAll(/\/(?=\/|$)/g, "/x") };
      // The cookie of the admin beside it opens nothing.
      const headers = { ...bearer(token), ...ownOrigin, ...cookie("aes_unknown") };
      const answer = await call(world, path, { json: {} }, headers);
      expectMessage(route.name, answer, 403, refusal);
    }
    expect(found).toEqual([]);
    expect(await world.db.select().from(turns)).toEqual([]);
  },
  patience,
);

test("a route that declares nothing about impersonation refuses its writes too, and so does a path without a route", async () => {
  const { world, token } = await impersonated();
  const answers = { 200: json(Deleted, "Tea.") };
  const said = { tags: ["Service"], summary: "Tea", description: "Tea.", responses: answers };
  const tea = router().openapi(unguarded({ ...said, method: "post", path: "/api/tea", operationId: "pourTea" }), (c) =>
    c.json({ deleted: true as const }, 200),
  );
  const app = createApp(world.h.services, [tea], createOpening(world.h.services));
  const send = async (method: string, path: string, Authorization: string) => {
    const init = { method, headers: { Authorization } };
    const response = await app.request(path, init, { remoteAddress: "192.0.2.1" });
    const { message } = await response.json().catch(() => ({ message: null }));
    return [response.status, message ?? null];
  };
  for (const scheme of ["Bearer", "bearer", "BEARER  "]) {
    expect(await send("POST", "/api/tea", `${scheme} ${token}`)).toEqual([403, refusal]);
  }
  expect(await send("POST", "/api/tea", `Bearer ${token}x`)).toEqual([200, null]);
  for (const method of ["POST", "PROPFIND", "OPTIONS"]) {
    expect(await send(method, "/api/nothing", `Bearer ${token}`)).toEqual([403, refusal]);
  }
  expect((await send("POST", "/api/auth/stop-impersonating/", `Bearer ${token}`))[0]).toBe(403);
});

test(
  "an impersonation reads what the person reads, each time with an entry of both persons, but follows no turn",
  async () => {
    const { world, every, person, chief, token } = await impersonated();
    const { found, expectStatus, expectMessage } = findings();
    const read: string[] = [];
    for (const one of every.filter(({ method, key }) => method === "GET" && key !== "unknown")) {
      const prepared = await prepare(world, one, world.acme, person);
      const own = await call(world, one, prepared, bearer(await world.session(person)));
      const answer = await call(world, one, prepared, bearer(token));
      if (one.name.endsWith("playground/stream/{messageId}")) expectMessage(one.name, answer, 403, refusal);
      else expectStatus(one.name, answer, own.status);
      read.push(answer.requestId);
    }
    expect(found).toEqual([]);
    expect(read.length).toBeGreaterThan(50);
    const entries = await world.db
      .select()
      .from(auditLogs)
      .where(eq(auditLogs.action, "impersonation.request"))
      .orderBy(asc(auditLogs.id));
    expect(entries.map(({ requestId }) => requestId)).toEqual(read);
    const both = { actorId: chief.id, summary: { user: { id: person.id, name: "owner of acme" } } };
    for (const entry of entries) expect(entry).toMatchObject(both);
  },
  patience,
);
