import type { Setup } from "../main.ts";
import type { Flags } from "./arguments.ts";
import { openAlone } from "./open-alone.ts";
import { print, printJson } from "./print.ts";

/**
 * Sets a new password of a user and prints it, since the server may be unable to send mail (decisions §1, "Rescue").
 */
export async function resetPassword(setup: Setup, email: string, { json }: Flags): Promise<void> {
  const { engine, close } = await openAlone(setup);
  try {
    const reset = await engine.resetPassword(email);
    if (json) return await printJson(reset);
    const { sessionsEnded: ended } = reset;
    await print(`New password of ${reset.email}: ${reset.password}   (shown only now)\n`);
    await print(`${ended} ${ended === 1 ? "session was" : "sessions were"} ended.\n`);
  } finally {
    await close();
  }
}
