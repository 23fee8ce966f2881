import { EngineError } from "../../core/errors.ts";

/** The version of a new skill (spec "Skill"). */
export const firstVersion = "0.1.0";

/** The most skills of an organization, since one response lists them all. */
export const mostSkills = 500;

/** The most bytes of all current versions without scripts, which one response contains in full. */
export const mostBytes = 16 * 1024 * 1024;

/** The most versions of a skill. */
export const mostVersions = 500;

/** The most bytes of all versions in the database, where each version has its own copy of the scripts. */
export const mostStoredBytes = 512 * 1024 * 1024;

/** Throws the 409 for a skill with too many versions. */
export function requireVersions(slug: string, count: number): void {
  if (count <= mostVersions) return;
  throw new EngineError(
    "conflict",
    `A skill has at most ${mostVersions} versions: make another skill, or delete ${slug} and import its export without the oldest ones`,
  );
}

/** The name in lower case, with one dash for each character outside a-z, 0-9 and -; nothing is trimmed or collapsed. */
export function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9-]/gu, "-");
}

/** Whether a skill can have this slug. */
export const isSkillSlug = (text: string) => /^[a-z0-9-]{1,512}$/.test(text);

/** Three numbers without leading zeros, each at most `largest`. */
export const versionPattern = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;
const largest = 999_999;

const numbers = (version: string) => version.split(".").map(Number);

/**
 * The version of the next save: the next minor version, or, after the largest minor version, the next major one. Throws
 * 409 when none is left.
 */
export function nextVersion(version: string): string {
  const [major = 0, minor = 0] = numbers(version);
  if (minor < largest) return `${major}.${minor + 1}.0`;
  if (major < largest) return `${major + 1}.0.0`;
  throw new EngineError("conflict", `No version comes after ${version}: delete the skill, or make another one`);
}

/** Compares two versions; negative when `a` is older. */
export function compareVersions(a: string, b: string): number {
  const theirs = numbers(b);
  const differences = numbers(a).map((number, index) => number - (theirs[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

export interface Script {
  file: string;
  description: string;
  content: string;
}

/** A variable that a skill declares. Each agent with the skill has its own value. */
export interface EnvSpec {
  name: string;
  description?: string | undefined;
  sensitive: boolean;
  hosts?: string[] | undefined;
}

/** Whether the hosts of a variable protect nothing: the model sees a non-sensitive value, and may send it anywhere. */
export function namesHostsInVain({ sensitive, hosts = [] }: Pick<EnvSpec, "sensitive" | "hosts">): boolean {
  return !sensitive && hosts.length > 0;
}

/** The lists of hosts in these declarations. */
function boundsOf(specs: readonly Pick<EnvSpec, "hosts">[]): string[][] {
  return specs.map(({ hosts = [] }) => hosts).filter((hosts) => hosts.length > 0);
}

/** How a version declares the variable of a stored value. */
export interface Declaration extends Pick<EnvSpec, "sensitive" | "hosts"> {
  /** Whether this version was in use when the value was stored. */
  stored: boolean;
}

/**
 * How a stored value is protected: whether it is hidden, and the lists of hosts to which it may be sent. The lists come
 * from the version in use when the value was stored, and from the version in use now. If neither of the two names
 * hosts, or no version in use now declares the variable, all versions count. So neither pinning another version nor
 * disabling a skill allows more hosts.
 */
export function protectionOf(
  declared: readonly Declaration[],
  served: Pick<EnvSpec, "sensitive" | "hosts"> | undefined,
): { sensitive: boolean; bounds: string[][] } {
  const own = served ? boundsOf([...declared.filter(({ stored }) => stored), served]) : [];
  const bounds = own.length > 0 ? own : boundsOf(declared);
  // A value that the model sees could be sent to any host.
  const sensitive = (served ? served.sensitive : declared.some((spec) => spec.sensitive)) || bounds.length > 0;
  return { sensitive, bounds };
}

/** The fields of a version, without its number. */
export interface VersionFields {
  description: string;
  content: string;
  requiredEnv: EnvSpec[];
  requiredTools: string[];
  scripts: Script[];
}

export interface NumberedVersion extends VersionFields {
  version: string;
  changelog?: string | null | undefined;
  createdAt?: string | undefined;
}

/** Whether two versions differ only in their numbers, or in the order of fields, which the database changes. */
function saysTheSame(a: VersionFields, b: VersionFields): boolean {
  return canonical(a) === canonical(b);
}

function canonical({ description, content, requiredEnv, requiredTools, scripts }: VersionFields): string {
  const env = requiredEnv.map((one) => [one.name, one.description ?? "", one.sensitive, one.hosts ?? []]);
  const files = scripts.map((one) => [one.file, one.description, one.content]).sort();
  return JSON.stringify([description, content, env, requiredTools, files]);
}

/**
 * The versions that an import adds: those of its history whose numbers are new, and, unless it equals the newest one,
 * its own text as the next version. Stored versions never change. `current` is the newest number.
 */
export function planImport(
  stored: readonly NumberedVersion[],
  skill: VersionFields & { versions?: NumberedVersion[] | undefined },
): { additions: NumberedVersion[]; current: string } {
  const known = new Set(stored.map(({ version }) => version));
  const additions = (skill.versions ?? []).filter(({ version }) => !known.has(version));
  const newest = [...stored, ...additions].sort((a, b) => compareVersions(b.version, a.version))[0];
  if (newest && saysTheSame(newest, skill)) return { additions, current: newest.version };
  const { description, content, requiredEnv, requiredTools, scripts } = skill;
  const version = newest ? nextVersion(newest.version) : firstVersion;
  const own = { version, description, content, requiredEnv, requiredTools, scripts };
  return { additions: [...additions, own], current: version };
}
