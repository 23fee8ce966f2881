import type { Setup } from "../main.ts";
import type { Flags } from "./arguments.ts";
import { openAlone } from "./open-alone.ts";
import { print, printJson } from "./print.ts";

/** Gives a user a new password and shows it, since the server may send no mail (decisions §1, "Rescue"). */
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
