import { scrubbedPreview } from "../../core/activity/preview.ts";
import type { LoadScrub } from "../../core/scrub/scrub.ts";
import { oneLine, storable } from "../../core/text/text.ts";
import { textOf } from "./fields.ts";

/** A messenger's own words for an error text: one short line that holds no secret. */
export type Words = (value: unknown) => Promise<string>;

/** The words are empty when the secrets can't be loaded. */
export function wordsBy(loadScrub: LoadScrub): Words {
  return async (value) => {
    const text = textOf(value);
    if (text === "") return "";
    const scrub = await loadScrub().catch(() => null);
    return scrub === null ? "" : oneLine(scrubbedPreview(storable(text), scrub), 300);
  };
}
