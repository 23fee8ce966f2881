import type { Setup } from "../main.ts";
import type { Flags } from "./arguments.ts";
import { openAlone } from "./open-alone.ts";
import { print, printJson } from "./print.ts";

/** Seals all stored secrets with `ENCRYPTION_KEY`. A server on PostgreSQL may run meanwhile. */
export async function rotateKey(setup: Setup, { json }: Flags): Promise<void> {
  const { engine, close } = await openAlone(setup);
  try {
    const { resealed, total } = await engine.rotateKey();
    if (json) return await printJson({ resealed, alreadyCurrent: total - resealed, total });
    const rest = total - resealed;
    await print(`${values(resealed)} sealed anew with ENCRYPTION_KEY; ${values(rest)} sealed with it before.\n`);
    if (setup.settings.ENCRYPTION_KEY_PREVIOUS.length > 0) {
      await print("Remove ENCRYPTION_KEY_PREVIOUS once every server runs with the new ENCRYPTION_KEY.\n");
    }
  } finally {
    await close();
  }
}

const values = (count: number) => `${count} ${count === 1 ? "value was" : "values were"}`;
