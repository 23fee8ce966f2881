import { shortSecretProblem } from "../../core/scrub/scrub.ts";
import type { Path, Problem } from "./problem.ts";

/** A credential or a variable of a skill whose value is in an environment variable. */
export interface Reference {
  to:
    | { kind: "secret"; key: string }
    | { kind: "skillEnv"; skillSlug: string; key: string; sensitive: boolean }
    | { kind: "channel"; channelType: string; field: string }
    | { kind: "eventSource"; name: string };
  variable: string;
  path: Path;
  place: string;
}

export interface ExtractedReferences {
  /** The document without its references, in the form for an import. */
  value: Record<string, unknown>;
  references: Reference[];
  problems: Problem[];
}

type Fields = Record<string, unknown>;
type PlaceOf = (path: Path) => string;

/** The fields of channels' credentials, as in `PUT /channels/{type}`. */
const channelCredentials: ReadonlyMap<string, readonly string[]> = new Map([
  ["telegram", ["botToken"]],
  ["slack", ["botToken", "signingSecret", "appToken"]],
  ["whatsapp", ["accountSid", "authToken", "apiKeySid", "apiKeySecret"]],
]);

/**
 * Removes the references from an agent's document, and reports credentials that are written into it. A variable that is
 * not sensitive is replaced by its value, so that it can be compared.
 */
export function extractReferences(
  document: Fields,
  placeOf: PlaceOf,
  environment: Readonly<Record<string, string | undefined>>,
): ExtractedReferences {
  const value = structuredClone(document);
  const found: ReferenceFindings = { references: [], problems: [], placeOf };
  if (isFields(value.instance)) {
    const { instance } = value;
    each(instance.secrets, ["instance", "secrets"], (secret, path) => takeSecret(secret, path, found));
    each(instance.skillEnv, ["instance", "skillEnv"], (skill, path) => {
      each(skill.env, [...path, "env"], (entry, at) => takeSkillEnv(skill, entry, at, { found, environment }));
    });
    each(instance.channels, ["instance", "channels"], (channel, path) => takeChannel(channel, path, found));
    each(instance.eventSources, ["instance", "eventSources"], (source, path) => takeSourceKey(source, path, found));
  }
  return { value, references: found.references, problems: found.problems };
}

interface ReferenceFindings {
  references: Reference[];
  problems: Problem[];
  placeOf: PlaceOf;
}

const never = "A secret never stands in a file";

function takeSecret(secret: Fields, path: Path, found: ReferenceFindings): void {
  if (Object.hasOwn(secret, "value")) {
    found.problems.push({
      place: found.placeOf([...path, "value"]),
      message: `${never}: write \`fromEnv\` with the name of a variable of the environment in place of \`value\``,
    });
    delete secret.value;
  }
  if (!Object.hasOwn(secret, "fromEnv")) return;
  const variable = takeName(secret, path, found);
  const key = String(secret.key);
  const place = found.placeOf(path);
  if (variable !== null) found.references.push({ to: { kind: "secret", key }, variable, path, place });
  const problem = keyProblem(key, path, found);
  if (problem !== null) found.problems.push({ place, message: `The secret \`${key}\` ${problem}` });
  secret.configured = true;
}

/** Why the server would refuse a secret with this key. Checked before the import, which comes first. */
function keyProblem(key: string, path: Path, { references, placeOf }: ReferenceFindings): string | null {
  if (!/^[a-z0-9_]{1,64}$/.test(key)) return "must have a key of 1 to 64 of a-z, 0-9 and _";
  const same = references.filter(({ to, place }) => to.kind === "secret" && to.key === key && place !== placeOf(path));
  return same.length > 0 ? `is at ${same[0]?.place} too` : null;
}

function takeSkillEnv(
  { skillSlug }: Fields,
  entry: Fields,
  path: Path,
  { found, environment }: { found: ReferenceFindings; environment: Readonly<Record<string, string | undefined>> },
): void {
  if (!Object.hasOwn(entry, "fromEnv")) {
    if (entry.sensitive === false || entry.value === undefined) return;
    found.problems.push({
      place: found.placeOf([...path, "value"]),
      message: `${never}: write \`fromEnv\` in place of \`value\`, or \`sensitive: false\` beside it if everybody may read it`,
    });
    delete entry.value;
    return;
  }
  const variable = takeName(entry, path, found);
  const sensitive = entry.sensitive !== false;
  const to = { kind: "skillEnv", skillSlug: String(skillSlug), key: String(entry.key), sensitive } as const;
  if (variable !== null) found.references.push({ to, variable, path, place: found.placeOf(path) });
  if (sensitive) entry.configured = true;
  else entry.value = environment[variable ?? ""];
}

function takeChannel(channel: Fields, path: Path, found: ReferenceFindings): void {
  const { channelType, config } = channel;
  if (!isFields(config)) return;
  for (const field of channelCredentials.get(String(channelType)) ?? []) {
    if (!Object.hasOwn(config, field)) continue;
    const at = [...path, "config", field];
    const variable = nameIn(config[field], at, found);
    delete config[field];
    const to = { kind: "channel", channelType: String(channelType), field } as const;
    if (variable !== null) found.references.push({ to, variable, path: at, place: found.placeOf(at) });
  }
}

function takeSourceKey(source: Fields, path: Path, found: ReferenceFindings): void {
  if (!Object.hasOwn(source, "authKey")) return;
  const at = [...path, "authKey"];
  const variable = nameIn(source.authKey, at, found);
  delete source.authKey;
  source.authKeyConfigured = true;
  const to = { kind: "eventSource", name: String(source.name) } as const;
  if (variable !== null) found.references.push({ to, variable, path: at, place: found.placeOf(at) });
}

/** The name in `{ fromEnv: NAME }`, which is the only value that a credential's field may have. */
function nameIn(value: unknown, path: Path, found: ReferenceFindings): string | null {
  if (isFields(value) && Object.keys(value).join() === "fromEnv") return takeName(value, path, found);
  found.problems.push({ place: found.placeOf(path), message: `${never}: write \`${path.at(-1)}: { fromEnv: NAME }\`` });
  return null;
}

/** The engine's own variables: a file that somebody else wrote must not make them visible or send them. */
const ownVariables: ReadonlySet<string> = new Set([
  "AGENT_ENGINE_KEY",
  "DATABASE_LISTEN_URL",
  "DATABASE_URL",
  "ENCRYPTION_KEY",
  "ENCRYPTION_KEY_PREVIOUS",
  "METRICS_TOKEN",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OWNER_PASSWORD",
]);

/** Removes `fromEnv` from the fields and returns its name. */
function takeName(fields: Fields, path: Path, found: ReferenceFindings): string | null {
  const { fromEnv } = fields;
  delete fields.fromEnv;
  if (typeof fromEnv === "string" && ownVariables.has(fromEnv)) {
    const message = `The variable ${fromEnv} is a credential of Agent Engine itself, which no agent gets`;
    found.problems.push({ place: found.placeOf([...path, "fromEnv"]), message });
    return null;
  }
  if (typeof fromEnv === "string" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(fromEnv)) return fromEnv;
  found.problems.push({
    place: found.placeOf([...path, "fromEnv"]),
    message: "`fromEnv` must be the name of a variable of the environment, such as OPENAI_API_KEY",
  });
  return null;
}

function each(list: unknown, path: Path, take: (entry: Fields, path: Path) => void): void {
  if (!Array.isArray(list)) return;
  for (const [index, entry] of list.entries()) if (isFields(entry)) take(entry, [...path, index]);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The references whose variables are missing or can't be used. */
export function missingVariables(
  references: readonly Reference[],
  environment: Readonly<Record<string, string | undefined>>,
): Problem[] {
  return references.flatMap((reference) => {
    const { variable, place, to } = reference;
    const value = environment[variable];
    if (!value) return [{ place, message: `The variable ${variable} is not set in the environment` }];
    const problem = to.kind === "skillEnv" && to.sensitive ? shortSecretProblem(value) : null;
    return problem === null ? [] : [{ place, message: `The variable ${variable} ${problem}` }];
  });
}

/** Whether the value may be shown, and so is part of the bundle. */
export const isOpen = ({ to }: Reference) => to.kind === "skillEnv" && !to.sensitive;
