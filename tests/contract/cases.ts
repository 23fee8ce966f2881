import type { Permission } from "../../src/core/credentials/permissions.ts";
import { type Edition, editionOf, features, openEdition } from "../../src/core/edition.ts";
import { call, type Headers } from "./call.ts";
import { isGuarded, type Route, readDocument, takes } from "./document.ts";
import type { Prepared } from "./requests.ts";
import { type Entry, routes } from "./routes.ts";
import { createWorld, type Home, type Person, type World } from "./world.ts";

/** A guarded route with its entry, and its part of the document. */
export interface Case extends Route {
  entry: Entry;
  permission: Permission | null;
  /** How it treats a management key. */
  key: "owner" | "refused" | "unknown";
}

/** Every proof makes some hundreds of requests, on a machine that may be shared. */
export const patience = 120_000;

const served: Record<Edition["name"], Edition> = {
  open: openEdition,
  managed: editionOf({ EDITION: "managed", FEATURES: features }),
};

interface Options extends Omit<NonNullable<Parameters<typeof createWorld>[0]>, "edition"> {
  edition?: Edition["name"];
}

/**
 * The world, and a case for each guarded route that has an entry: in the open edition its routes, in the managed one
 * those that the open one lacks or that behave differently there.
 */
export async function cases({ edition = "open", ...options }: Options = {}) {
  const world = await createWorld({ ...options, edition: served[edition] });
  const { document, list } = await readDocument(world.h);
  const guarded = list.filter(isGuarded);
  const all = guarded.flatMap((route): Case[] => {
    const entry = routes[route.name];
    const differs = route.operation["x-feature"] !== undefined || entry?.differs === true;
    const isPart = edition === "managed" ? differs : route.operation["x-feature"] === undefined;
    return entry && isPart ? [{ ...route, entry, permission: permissionOf(route), key: keyOf(route) }] : [];
  });
  return { world, document, list, guarded, all };
}

const permissionOf = ({ operation }: Route) => (operation["x-permission"] as Permission | undefined) ?? null;

function keyOf(route: Route): Case["key"] {
  if (takes(route, "managementApiKey")) return "owner";
  // Where an agent's key is a credential too, any other key is an unknown one.
  return takes(route, "agentApiKey") ? "unknown" : "refused";
}

/** A successful request of a permitted caller. */
export async function prepare(world: World, { entry }: Case, home: Home, caller: Person): Promise<Required<Prepared>> {
  const { params = {}, query = "", json = {} } = (await entry.prepare?.(world, home, caller)) ?? {};
  return { params: { orgSlug: home.slug, slug: home.agentSlug, ...params }, query, json };
}

/** Prepares and sends it, with a fresh session of the person's own, since some routes end it. */
export async function attempt(
  world: World,
  one: Case,
  { home, caller, headers }: { home: Home; caller: Person; headers: (token: string) => Headers },
) {
  const prepared = await prepare(world, one, home, caller);
  return call(world, one, prepared, headers(await world.session(caller)));
}
