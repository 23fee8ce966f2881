import type { ImportNotes } from "../../../core/bundle.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../core/json.ts";
import { clip } from "../../../core/text/text.ts";
import { invalid } from "../../../http/errors.ts";
import { Bundle, BundledInstance } from "../schema.ts";
import { embedderProblem, withoutManaged } from "./managed.ts";
import { type UnknownField, unknownFields } from "./unknown-fields.ts";
import { convert, type ReadVersion, readVersions, versionOf } from "./versions.ts";

export interface ReadBundle {
  version: ReadVersion;
  instance: BundledInstance;
  /** The path of a channel in the sent bundle, by its index after reading, which removes some channels and adds Web. */
  channelPath(index: number): Path;
}

/** Reads a bundle of any format. Removes and notes unknown fields. Throws the 400 with each wrong field. */
export function readBundle(sent: unknown, notes: ImportNotes): ReadBundle {
  if (!isObject(sent)) throw invalid([{ path: [], message: "must be an object" }]);
  const version = versionOf(sent.version);
  const { instance } = sent;
  if (version === null || sent.type !== "instance" || !isObject(instance)) throw invalid(headProblems(sent));
  const problem = embedderProblem(instance.embedder);
  if (problem !== null) throw invalid([{ path: ["instance", "embedder"], message: problem }]);
  const { instance: converted, places } = withoutManaged(convert(version, instance), notes);
  const channelPath = channelPaths(instance.channels, places);
  const asSent = <Part extends PropertyKey>(path: readonly Part[]): readonly (Part | string | number)[] => {
    const [, field, index, ...inner] = path;
    return field === "channels" && typeof index === "number" ? [...channelPath(index), ...inner] : path;
  };
  const { $schema: _ofEditors, ...rest } = sent;
  const told: Warnings = { warn: (type, path, message) => notes.warn(type, asSent(path), message) };
  noteUnknown({ ...rest, instance: converted }, told);
  const parsed = BundledInstance.safeParse(converted);
  if (parsed.success) return { version, instance: parsed.data, channelPath };
  throw invalid(parsed.error.issues.map(({ path, message }) => ({ path: asSent(["instance", ...path]), message })));
}

type Path = (string | number)[];
type Warnings = Pick<ImportNotes, "warn">;

/** The path of each channel in the bundle. A channel that reading added gets the path of the whole list. */
function channelPaths(sent: JsonValue | undefined, places: readonly number[]): (index: number) => Path {
  const count = Array.isArray(sent) ? sent.length : 0;
  return (index) => {
    const place = places[index] ?? index;
    return ["instance", "channels", ...(place < count ? [place] : [])];
  };
}

function headProblems({ version, type, instance }: JsonObject) {
  const known = readVersions.join(", ");
  return [
    ...(versionOf(version) === null ? [{ path: ["version"], message: `must be one of: ${known}` }] : []),
    ...(type === "instance" ? [] : [{ path: ["type"], message: "must be instance" }]),
    ...(isObject(instance) ? [] : [{ path: ["instance"], message: "must be an object" }]),
  ];
}

/** The most unknown fields that are noted: a body may have very many. */
const mostNoted = 50;

function noteUnknown(sent: JsonObject, notes: Warnings): void {
  const unknown = unknownFields(Bundle, sent);
  for (const field of unknown.slice(0, mostNoted)) note(field, notes);
  if (unknown.length <= mostNoted) return;
  notes.warn("unknown_field", [], `There are ${unknown.length - mostNoted} more fields that a bundle does not have`);
}

function note({ path, suggestion }: UnknownField, notes: Warnings): void {
  const shown = path.map((part) => (typeof part === "string" ? clip(part, 100) : part));
  const name = shown.at(-1);
  if (isCredential(path)) {
    notes.warn("credential_ignored", shown, `${name} is a credential, which no import stores: set it on the agent`);
    return;
  }
  const hint = suggestion === null ? ": it is left out" : `; did you mean ${suggestion}?`;
  notes.warn("unknown_field", shown, `${name} is no field of a bundle${hint}`);
}

const credentials: ReadonlySet<unknown> = new Set([
  ...["apiKey", "authKey", "webhookToken", "webhookSecret", "botToken", "signingSecret", "appToken"],
  ...["accountSid", "authToken", "apiKeySid", "apiKeySecret"],
]);

const isCredential = (path: readonly (string | number)[]) =>
  credentials.has(path.at(-1)) || (path.at(-1) === "value" && path[1] === "secrets");
