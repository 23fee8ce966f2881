import { dirname, resolve } from "node:path";
import type { Environment } from "../../core/config.ts";
import { dataUrl, dataUrlBytes, imageType } from "../../core/files/image.ts";
import { AgentBundle, unknownFields } from "../../engine.ts";
import type { FileDocument } from "./documents.ts";
import { fieldName, type Path, type Problem } from "./problem.ts";
import { isInside, readUpTo } from "./read-files.ts";
import { extractReferences, isFields, type Reference } from "./references.ts";

/** An agent as its file describes it. */
export interface AgentFile {
  slug: string;
  /** Where the agent's document begins. */
  place: string;
  /** The bundle without references, in the form for an import. */
  bundle: Record<string, unknown>;
  /** The agent, with defaults for fields that the file leaves out. */
  instance: AgentBundle["instance"];
  references: Reference[];
}

export interface Surroundings {
  /** The directory of all files, and the path of this file. */
  root: string;
  path: string;
  environment: Environment;
}

/** Reads a document with `type: instance`. */
export async function readAgent(
  document: FileDocument,
  fields: Record<string, unknown>,
  { root, path, environment }: Surroundings,
): Promise<{ agent: AgentFile | null; problems: Problem[] }> {
  const { $schema: _forEditors, ...own } = fields;
  const written = document.writtenNumber(["version"]);
  const { value, references, problems } = extractReferences(
    written === undefined ? own : { ...own, version: written },
    document.placeOf,
    environment,
  );
  problems.push(...describeUnknown(unknownFields(AgentBundle, value), document));
  problems.push(...(await takeIcon(value, { root, path, document })));
  const parsed = AgentBundle.safeParse(value);
  if (!parsed.success) problems.push(...describeIssues(parsed.error.issues, document));
  if (problems.length > 0 || !parsed.success) return { agent: null, problems };
  const { instance } = parsed.data;
  const agent = {
    slug: instance.slug,
    place: document.placeOf(["instance", "slug"]),
    bundle: value,
    instance,
    references,
  };
  return { agent, problems };
}

/** A schema's issues with their positions. For a missing field this is the position of its parent. */
export function describeIssues(
  issues: readonly { path: readonly PropertyKey[]; message: string }[],
  document: FileDocument,
): Problem[] {
  return issues.map(({ path, message }) => {
    const own: Path = path.map((part) => (typeof part === "number" ? part : String(part)));
    const field = fieldName(own);
    return { place: document.placeOf(own), message: field === "" ? `The document ${message}` : `${field} ${message}` };
  });
}

/** The unknown fields with their positions. */
export function describeUnknown(fields: ReturnType<typeof unknownFields>, document: FileDocument): Problem[] {
  return fields.map(({ path, suggestion }) => {
    const hint = suggestion === null ? "" : `; did you mean \`${suggestion}\`?`;
    return { place: document.placeOf(path), message: `Unknown field \`${path.at(-1)}\`${hint}` };
  });
}

interface IconPlace {
  root: string;
  path: string;
  document: FileDocument;
}

/** Replaces the file name in `icon` by that picture's data. */
async function takeIcon(bundle: Record<string, unknown>, { root, path, document }: IconPlace): Promise<Problem[]> {
  const { instance } = bundle;
  if (!isFields(instance) || typeof instance.icon !== "string") return [];
  if (instance.icon.startsWith("data:")) {
    instance.icon = writeIcon(instance.icon);
    return [];
  }
  const icon = await readIcon(root, path, instance.icon);
  if ("url" in icon) instance.icon = icon.url;
  else delete instance.icon;
  return "url" in icon ? [] : [{ place: document.placeOf(["instance", "icon"]), message: icon.problem }];
}

/** The largest icon (decisions §3). */
const largestIcon = 512 * 1024;

/** Reads a picture beside an agent's file as a `data:` address; returns an explanation when it can't be used. */
async function readIcon(root: string, file: string, address: string): Promise<{ url: string } | { problem: string }> {
  const path = resolve(dirname(file), address);
  if (!(await isInside(root, path))) return { problem: `There is no file ${address} in the directory` };
  const bytes = await readUpTo(path, largestIcon);
  if (bytes === null) return { problem: `${address} is larger than 512 KiB` };
  if (typeof bytes === "string") return { problem: `${address} can't be read (${bytes})` };
  const type = imageType(bytes);
  if (type === null) return { problem: `${address} is no PNG, JPEG or WebP` };
  return { url: dataUrl(type, bytes) };
}

/** A `data:` address as the server spells it; unchanged when it contains no picture, which the schema reports. */
function writeIcon(address: string): string {
  const bytes = dataUrlBytes(address);
  const type = bytes && imageType(bytes);
  return bytes && type ? dataUrl(type, bytes) : address;
}
