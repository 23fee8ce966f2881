import type { CallOptions } from "../../../client/index.ts";
import { isRefused } from "../api.ts";

/** Saves what began from a revision of an agent. A later one is read instead of overwritten, which the error says. */
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
