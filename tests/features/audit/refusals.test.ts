import { expect, test } from "vitest";
import { harness } from "../../harness.ts";
import { auditOf, join, managementKey, userIdOf } from "../organizations/callers.ts";

const minute = 60_000;

test("a refused permission is in the log of the addressed organization, whichever check refuses it", async () => {
  const h = await harness();
  const { slug } = await h.agent();
  const [viewer, admin, key] = [await h.as("viewer"), await h.as("admin"), await managementKey(h)];
  const before = (await auditOf(h)).length;
  const calls = [
    h.request(`/api/instances/${slug}?x=1`, { method: "PATCH", headers: viewer, json: "no object" }),
    h.request("/api/audit-logs", { headers: viewer }),
    h.request("/api/organizations/acme/members", {
      method: "POST",
      headers: admin,
      json: { email: "a@example.com", roleKey: "owner" },
    }),
    h.request("/api/me", { headers: key }),
  ];
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  // Neither unknown callers, nor unreachable objects.
  const stranger = await h.as("owner", { organization: await h.createOrganization("other") });
  expect((await h.request(`/api/instances/${slug}`, { headers: stranger })).status).toBe(404);
  expect((await h.request(`/api/instances/${slug}`)).status).toBe(401);
  const entries = (await auditOf(h)).slice(before);
  expect(
    new Set(entries.map(({ action, success, organizationId }) => [action, success, organizationId].join())),
  ).toEqual(new Set([`access.refuse,false,${h.organization.id}`]));
  const told = entries.map(({ target, summary, actorName }) => [actorName, target, summary.message]).toSorted();
  expect(told).toEqual([
    ["CI", "GET /api/me", "This route needs a signed-in session"],
    ["admin", "POST /api/organizations/acme/members", "Only an Owner may make somebody an Owner"],
    ["viewer", "GET /api/audit-logs", "Missing permission: audit_log:read"],
    ["viewer", `PATCH /api/instances/${slug}`, "Missing permission: agent:write"],
  ]);
  expect(entries.find(({ actorName }) => actorName === "admin")?.actorId).toBe(await userIdOf(h, admin));
});

test("of one caller the log has 20 refusals in ten minutes, and says that it stops there", async () => {
  const h = await harness();
  const [viewer, another] = [await h.as("viewer"), await h.as("viewer")];
  const ask = async (headers: Record<string, string>, times: number) => {
    for (let call = 0; call < times; call += 1) {
      expect((await h.request("/api/audit-logs", { headers })).status).toBe(403);
    }
  };
  await ask(viewer, 25);
  const entries = await auditOf(h);
  expect(entries).toHaveLength(20);
  expect(entries.filter(({ summary }) => "furtherRefusals" in summary)).toEqual([entries.at(-1)]);
  await ask(another, 1);
  expect(await auditOf(h)).toHaveLength(21);
  await h.clock.advance(10 * minute);
  await ask(viewer, 1);
  expect(await auditOf(h)).toHaveLength(22);
});

test("refusals in one organization hide none in another", async () => {
  const h = await harness();
  const viewer = await h.as("viewer");
  const other = await h.createOrganization("other");
  await join(h, other.id, await userIdOf(h, viewer), "viewer");
  const ask = (organization: string) =>
    h.request("/api/audit-logs", { headers: { ...viewer, "X-Organization": organization } });
  for (let call = 0; call < 21; call += 1) expect((await ask("other")).status).toBe(403);
  expect((await ask("acme")).status).toBe(403);
  const entries = await auditOf(h);
  expect(entries.filter(({ organizationId }) => organizationId === other.id)).toHaveLength(20);
  expect(entries.at(-1)).toMatchObject({ action: "access.refuse", organizationId: h.organization.id });
});

test("a caller who belongs nowhere is refused into the log of the installation", async () => {
  const h = await harness();
  const viewer = await h.as("viewer");
  await h.services.database.query("delete from members", []);
  expect((await h.request("/api/instances", { headers: viewer })).status).toBe(403);
  expect(await auditOf(h)).toMatchObject([{ action: "access.refuse", organizationId: null }]);
});
