import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { organizations } from "../../src/db/schema.ts";
import { type Headers, readText } from "./call.ts";
import { type Case, cases, type editions } from "./cases.ts";
import type { Route } from "./document.ts";
import { trespasses } from "./ownership.ts";
import { compare, takeSnapshot } from "./rows.ts";
import type { World } from "./world.ts";

export const jsonSchema = ({ operation }: Route) => operation.requestBody?.content["application/json"]?.schema;

export type Besieged = Awaited<ReturnType<typeof besieged>>;

export async function besieged(edition?: (typeof editions)[number]) {
  const { world, chief, all, list, document } = await cases({ trustProxy: 1, ...(edition ? { edition } : {}) });
  const stranger = await world.person("owner", world.other);
  await world.key(world.other);
  await world.session(stranger);
  const { id, workspaceId, agentId } = world.other;
  return { world, all, list, document, owner: chief, stranger, foreign: [id, workspaceId, agentId, stranger.id] };
}

let calls = 0;

/** Sends it from an address of its own, and expects no 500. */
export async function send({ h, settle }: World, route: Route, path: string, headers: Headers, body?: string) {
  settle();
  calls += 1;
  const content = body === undefined ? {} : { "Content-Type": "application/json" };
  const from = { "X-Forwarded-For": `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}` };
  const init = { method: route.method, headers: { ...from, ...content, ...headers } };
  const response = await h.request(path, body === undefined ? init : { ...init, body });
  const text = await readText(response);
  const errors = h.logs.filter((line) => line.includes('"level":"error"'));
  h.logs.length = 0;
  if (response.status >= 500 || errors.length > 0) {
    throw new Error(`${route.name}: ${response.status} ${text} ${errors} for ${path} ${body?.slice(0, 500)}`);
  }
  // A route's own throttle, such as that of wrong passwords, should not hide the rest of it.
  if (response.status === 429) await h.services.database.query("delete from throttles", []);
  return { status: response.status, text };
}

/** Waits for the background work of earlier routes, whose changes are not this one's. */
async function rested({ h }: World): Promise<void> {
  const open = "select from jobs where locked_until is not null or (status = 'pending' and run_at <= $1)";
  const isLeft = async () => (await h.services.database.query(open, [new Date(h.clock.now())])).length > 0;
  await expect
    .poll(async () => {
      if (await isLeft()) await h.engine.tick();
      return isLeft();
    })
    .toBe(false);
}

/** The changes of `attack` in the database beyond those the route may make. */
export async function damage(
  one: Case,
  { world, foreign }: Besieged,
  slug: string | undefined,
  attack: () => Promise<void>,
) {
  await rested(world);
  const before = await takeSnapshot(world.h.services.database);
  await attack();
  const changes = compare(before, await takeSnapshot(world.h.services.database));
  // A route that renames the organization should not break the next ones.
  await world.db.update(organizations).set({ slug: world.acme.slug }).where(eq(organizations.id, world.acme.id));
  const addressed = [...(before.get("agents")?.values() ?? [])].find((row) => row.slug === slug);
  return { changes, found: trespasses(one, changes, { agentId: addressed?.id, foreign }) };
}
