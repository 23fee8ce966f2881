import { EngineError } from "../../core/errors.ts";
import { dataUrlBytes, imageType } from "../../core/files/image.ts";
import { isModelName, splitModel } from "../../core/models/providers.ts";
import { agentSlugPattern } from "../../core/text/names.ts";

/** `models` and `import` are routes next to the agents; the dots are directories. */
const reserved = new Set(["models", "import", ".", ".."]);

/** Whether an agent can have this slug (decisions §2). */
export function isSlug(text: string): boolean {
  return agentSlugPattern.test(text) && !reserved.has(text);
}

interface ModelChoice {
  provider?: string | null | undefined;
  model?: string | null | undefined;
}

/**
 * The columns that `provider` and `model` set (decisions §4). `provider:model` sets both. A given `provider` wins: then
 * only its own prefix is removed, since models may have colons too (`ollama` with `mistral:7b`).
 */
export function modelColumns({ provider, model }: ModelChoice): ModelChoice {
  if (typeof model !== "string") return { provider, model };
  const split = splitModel(model);
  if (typeof provider !== "string") return { provider: split.provider ?? provider, model: split.model };
  return { provider, model: split.provider === provider ? split.model : model };
}

/** Whether a text is a model's name, alone or after its provider. */
export function namesModel(value: string): boolean {
  return isModelName(splitModel(value).model);
}

/** The revision that `If-Match` requires; undefined when any will do. Throws the 400. */
export function expectedRevision(ifMatch: string | undefined): string | undefined {
  if (ifMatch === undefined || ifMatch.trim() === "*") return undefined;
  const revision = /^(?:W\/)?"(\d{1,10})"$/.exec(ifMatch.trim())?.[1];
  if (revision === undefined) {
    throw new EngineError("bad-request", 'If-Match must be the revision in double quotes, such as "3"');
  }
  return revision;
}

/** The header with an agent's revision, in the form of `If-Match`. */
export const revisionTag = ({ revision }: { revision: number }) => ({ ETag: `"${revision}"` });

/** The most bytes of an icon (decisions §3). */
export const iconLimit = 512 * 1024;

/** Why a `data:` address can't be an icon; null when it can. */
export function iconProblem(address: string): string | null {
  const bytes = dataUrlBytes(address);
  if (!bytes || !imageType(bytes)) return "must be a data: address of a PNG, JPEG or WebP image";
  return bytes.length > iconLimit ? "must be at most 512 KiB" : null;
}
