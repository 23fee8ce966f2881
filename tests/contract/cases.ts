import type { Permission } from "../../src/core/credentials/permissions.ts";
import { type Edition, openEdition } from "../../src/core/edition.ts";
import { managedEdition } from "../harness.ts";
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
  key: "owner" | "itself" | "refused" | "unknown" | "powerless";
}

/** Every proof makes some hundreds of requests, on a machine that may be shared. */
export const patience = 120_000;

type EditionName = Edition["name"];

/** Both editions, for walks that do in each what differs there. */
export const editions = ["open", "managed"] as const satisfies EditionName[];

interface Options extends Omit<NonNullable<Parameters<typeof createWorld>[0]>, "edition"> {
  edition?: EditionName;
}

/**
 * The world, and cases for the guarded routes that have an entry. `every` are those of the edition; `all` are in the open
 * edition the same, in the managed one those that the open one lacks or that behave differently there. `chief` may call
 * all of them: an Owner, or in the managed edition a Platform Admin who is a member of no organization.
 */
export async function cases({ edition = "open", ...options }: Options = {}) {
  const world = await createWorld({ ...options, edition: edition === "open" ? openEdition : managedEdition });
  const chief = edition === "open" ? await world.person("owner", world.acme) : await world.platformAdmin();
  const { document, list } = await readDocument(world.h);
  const guarded = list.filter(isGuarded);
  const every = guarded.flatMap((route): Case[] => {
    const entry = routes[route.name];
    if (!entry || (edition === "open" && isManaged(route))) return [];
    return [{ ...route, entry, permission: permissionOf(route), key: keyOf(route, entry, edition) }];
  });
  const all = edition === "open" ? every : every.filter((one) => isManaged(one) || one.entry.differs !== undefined);
  return { world, chief, document, list, guarded, every, all };
}

const isManaged = ({ operation }: Route) => operation["x-feature"] !== undefined;
const permissionOf = ({ operation }: Route) => (operation["x-permission"] as Permission | undefined) ?? null;

function keyOf(route: Route, { differs }: Entry, edition: EditionName): Case["key"] {
  if (!takes(route, "managementApiKey")) {
    // Where an agent's key is a credential too, any other key is an unknown one.
    return takes(route, "agentApiKey") ? "unknown" : "refused";
  }
  if (differs === "keys of others") return edition === "open" ? "refused" : "itself";
  if (edition === "open") return "owner";
  if (differs === "sessions") return "refused";
  // In the managed edition, it belongs to Platform Admins alone.
  return permissionOf(route) === "policy:manage" ? "powerless" : "owner";
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
