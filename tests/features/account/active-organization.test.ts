import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { members } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { createUser, join, openSession } from "./people.ts";

type Headers = Record<string, string>;

const choose = (h: Harness, headers: Headers, slug: unknown) =>
  h.request("/api/me/organization", { method: "PUT", headers, json: { slug } });

/** Slugs of the agents that a request without an organization finds, which show its default organization. */
const agents = async (h: Harness, headers: Headers): Promise<string[]> => {
  const { instances } = await (await h.request("/api/instances", { headers })).json();
  return instances.map(({ slug }: { slug: string }) => slug);
};

/** Ada, who owns `acme` and `lab`, with an agent in each that has the organization's name. */
async function ada() {
  const h = await harness();
  const user = await createUser(h, "ada@example.com");
  const lab = await join(h, user.id, "lab", "owner");
  const headers = await openSession(h, user.id);
  for (const slug of ["acme", "lab"]) {
    const own = { ...headers, "X-Organization": slug };
    await h.request("/api/instances", { method: "POST", headers: own, json: { slug } });
  }
  return { h, user, lab, headers };
}

test("the chosen organization is what this session means, and no other session", async () => {
  const { h, user, headers } = await ada();
  const other = await openSession(h, user.id);
  expect(await agents(h, headers)).toEqual(["acme"]);
  const response = await choose(h, headers, "lab");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ organization: { slug: "lab", name: "lab", roleKey: "owner" } });
  expect(await agents(h, headers)).toEqual(["lab"]);
  expect(await agents(h, { ...headers, "X-Organization": "acme" })).toEqual(["acme"]);
  expect(await agents(h, other)).toEqual(["acme"]);
  await choose(h, { ...headers, "X-Organization": "lab" }, "acme");
  expect(await agents(h, headers)).toEqual(["acme"]);
});

test("an organization that the user left is no longer active", async () => {
  const { h, user, lab, headers } = await ada();
  await choose(h, headers, "lab");
  await h.services.database.db
    .delete(members)
    .where(and(eq(members.userId, user.id), eq(members.organizationId, lab.id)));
  expect(await agents(h, headers)).toEqual(["acme"]);
  expect((await choose(h, headers, "lab")).status).toBe(404);
});

test("another's organization does not exist, in the same bytes as a missing one", async () => {
  const { h, headers } = await ada();
  await h.createOrganization("foreign");
  const answers = await Promise.all(
    ["foreign", "missing", "ACME", "", "acme ", "' or 1=1 --"].map(async (slug) => {
      const response = await choose(h, headers, slug);
      return [response.status, await response.text()];
    }),
  );
  const missing = JSON.stringify({ statusCode: 404, message: "Organization not found", error: "Not Found" });
  expect(answers).toEqual(answers.map(() => [404, missing]));
  expect(await agents(h, headers)).toEqual(["acme"]);
});

test.each([
  [undefined],
  [null],
  [7],
  [["lab"]],
  [{ $ne: "" }],
  ["a\u0000"],
  ["\ud800"],
  ["x".repeat(129)],
])("the slug %j is a 400", async (slug) => {
  const h = await harness();
  const response = await choose(h, await h.as("viewer"), slug);
  expect(response.status).toBe(400);
  expect((await response.json()).issues).toMatchObject([{ path: "slug" }]);
});

test("a person sees the permissions of each role; only the first organization administers the installation", async () => {
  const { h, user, headers } = await ada();
  await join(h, user.id, "shop", "viewer");
  const { organizations } = (await (await h.request("/api/me", { headers })).json()).user;
  const held = new Map<string, string[]>(
    organizations.map(({ slug, permissions }: { slug: string; permissions: string[] }) => [slug, permissions]),
  );
  expect(held.get("acme")).toEqual(expect.arrayContaining(["org:write", "policy:manage"]));
  expect(held.get("lab")).toContain("org:write");
  expect(held.get("lab")).not.toContain("policy:manage");
  expect(held.get("shop")).toContain("agent:read");
  expect(held.get("shop")).not.toContain("agent:write");
  // The list agrees with the routes.
  const policies = (slug: string) =>
    h.request("/api/installation/policies", { headers: { ...headers, "X-Organization": slug } });
  expect((await policies("acme")).status).toBe(200);
  expect((await policies("lab")).status).toBe(403);
});
