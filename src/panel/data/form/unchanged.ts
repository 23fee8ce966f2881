import type { CallOptions } from "../../../client/index.ts";
import { isRefused } from "../api.ts";

/**
 * Saves changes to a known revision of an agent. If there is a later revision, it is read instead of overwritten, and
 * the error says so.
 */
export async function saveUnchanged(
  revision: number,
  what: "changes" | "texts",
  save: (options: CallOptions) => Promise<unknown>,
  onChange: () => Promise<void>,
): Promise<void> {
  try {
    await save({ headers: { "If-Match": `"${revision}"` } });
  } catch (error) {
    if (!isRefused(error, 412)) throw error;
    await onChange();
    throw new Error(`The agent was changed meanwhile, and is read again. Look at your ${what}, and save once more.`);
  }
  await onChange();
}
