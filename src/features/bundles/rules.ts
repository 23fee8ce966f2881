import type { Permission } from "../../core/credentials/permissions.ts";
import { asJson, sameJson } from "../../core/json.ts";
import type { BundledInstance } from "./schema.ts";

/** The most characters of a wanted slug before a suffix: a slug has at most 128. */
const longestStem = 112;

/** The beginning of the slugs that imports get when theirs is taken. */
export const importedStem = (slug: string) => `${slug.slice(0, longestStem)}-imported`;

/** The wanted slug, or the first free one of `<slug>-imported`, `<slug>-imported-2`, … */
export function freeSlug(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  const stem = importedStem(wanted);
  for (let number = 1; ; number += 1) {
    const slug = number === 1 ? stem : `${stem}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}

type Part = Exclude<keyof BundledInstance, "slug" | "name" | "secrets">;

/** The parts that have routes of their own, with the permissions of those routes. */
const permissions = {
  prompts: "agent.prompt:write",
  manualTools: "agent.tool:write",
  toolsNeedingApproval: "agent.tool:write",
  skills: "agent.skill:write",
  skillEnv: "agent.skill:write",
  channels: "agent.channel:write",
  hooks: "agent.governance:write",
  room: "agent.room:write",
  eventSources: "agent.room:write",
  scheduledTasks: "agent.task:write",
} as const satisfies Partial<Record<Part, Permission>>;

const parts = Object.keys(permissions) as (keyof typeof permissions)[];

/** The parts in which two instances differ. Parts that the second one omits do not count. */
export function changedParts(before: BundledInstance, after: BundledInstance): (keyof typeof permissions)[] {
  return parts.filter((part) => after[part] !== undefined && !sameJson(asJson(before[part]), asJson(after[part])));
}

/** The permissions that changes of these parts need, besides the permission to change agents. */
export function permissionsFor(changed: readonly (keyof typeof permissions)[]): Permission[] {
  return [...new Set(changed.map((part) => permissions[part]))];
}
