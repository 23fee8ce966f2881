import type { Ctx } from "../../context.ts";
import { findAgent, writeAgent } from "../agents/index.ts";
import { wellKnown } from "./rules.ts";
import type { SecretList } from "./schema.ts";
import { removeSecret, type SecretItem, saveSecrets, storedKeys } from "./store.ts";

/** The well-known keys, then the other stored ones. Throws the 404 of the agent. */
export async function listSecrets(ctx: Ctx, slug: string): Promise<SecretList["secrets"]> {
  const { id } = await findAgent(ctx, slug);
  const stored = await storedKeys(ctx.db, id);
  const others = [...stored].filter((key) => !wellKnown.includes(key)).sort();
  return [...wellKnown, ...others].map((key) => ({ key, configured: stored.has(key) }));
}

/** Stores the given secrets beside the others. Throws the 404 of the agent, and as `saveSecrets`. */
export async function putSecrets(ctx: Ctx, slug: string, items: readonly SecretItem[]): Promise<SecretList["secrets"]> {
  const summary = { keys: items.filter(({ value }) => value !== "").map(({ key }) => key) };
  await writeAgent(ctx, slug, { action: "agent.secret.update", summary }, (tx, { id }) =>
    saveSecrets(tx, ctx, id, items),
  );
  return listSecrets(ctx, slug);
}

/** Deletes a secret. Idempotent. Throws the 404 of the agent. */
export async function deleteSecret(ctx: Ctx, slug: string, key: string): Promise<void> {
  await writeAgent(ctx, slug, { action: "agent.secret.delete", summary: { keys: [key] } }, (tx, { id }) =>
    removeSecret(tx, id, key),
  );
}
