import { parentPort } from "node:worker_threads";
import { passwords } from "../../../core/credentials/password.ts";
import type { Passwords } from "../../../core/ports.ts";

/** A call of `Passwords`, with its arguments. */
export type PasswordCall = {
  [Name in keyof Passwords]: { name: Name; parameters: Parameters<Passwords[Name]> };
}[keyof Passwords];

/** An order to the thread; the answer has the same `id`. */
export type PasswordOrder = PasswordCall & { id: number };
export type PasswordAnswer = { id: number; result: string | boolean } | { id: number; failure: string };

parentPort?.on("message", async (order: PasswordOrder) => {
  parentPort?.postMessage(await answer(order));
});

async function answer(order: PasswordOrder): Promise<PasswordAnswer> {
  const { id } = order;
  try {
    return { id, result: await call(order) };
  } catch (error) {
    return { id, failure: error instanceof Error ? error.message : String(error) };
  }
}

function call(order: PasswordCall): Promise<string | boolean> {
  switch (order.name) {
    case "hash":
      return passwords.hash(...order.parameters);
    case "verify":
      return passwords.verify(...order.parameters);
    case "verifyBcrypt":
      return passwords.verifyBcrypt(...order.parameters);
  }
}
