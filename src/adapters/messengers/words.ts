import { scrubbedPreview } from "../../core/activity/preview.ts";
import type { LoadScrub } from "../../core/scrub/scrub.ts";
import { oneLine, storable } from "../../core/text/text.ts";
import { textOf } from "./fields.ts";

/** A messenger's own text for an error message: one short line without secrets. */
export type Words = (value: unknown) => Promise<string>;

/** Makes `Words`; the texts are empty when the secrets can't be loaded. */
export function wordsBy(loadScrub: LoadScrub): Words {
  return async (value) => {
    const text = textOf(value);
    if (text === "") return "";
    const scrub = await loadScrub().catch(() => null);
    return scrub === null ? "" : oneLine(scrubbedPreview(storable(text), scrub), 300);
  };
}
