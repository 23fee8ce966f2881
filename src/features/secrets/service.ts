import type { Ctx } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { providerSecrets } from "../../core/models/providers.ts";
import { declaredSecrets } from "../../core/plugins/plugins.ts";
import type { Db } from "../../db/client.ts";
import { invalid } from "../../http/errors.ts";
import { findAgent, writeAgent } from "../agents/index.ts";
import { secretProblem, wellKnown } from "./rules.ts";
import type { SecretList } from "./schema.ts";
import { removeSecret, type SavedSecrets, type SecretItem, saveSecrets, storedKeys } from "./store.ts";

/** The well-known keys, including those of plugins, then all others that are stored. Throws the 404 of the agent. */
export async function listSecrets(ctx: Ctx, slug: string): Promise<SecretList["secrets"]> {
  const { id } = await findAgent(ctx, slug);
  const stored = await storedKeys(ctx.db, id);
  const known = new Set([...wellKnown, ...declaredSecrets(ctx.plugins).keys()]);
  const others = [...stored].filter((key) => !known.has(key)).sort();
  return [...known, ...others].map((key) => ({ key, configured: stored.has(key) }));
}

/**
 * Stores the given secrets; the others stay. Changes nothing when all are stored already. `dropped` are the keys deleted
 * because of a changed address. Throws 400 for an invalid value, the 404 of the agent, and the errors of `saveSecrets`.
 */
export async function putSecrets(ctx: Ctx, slug: string, items: readonly SecretItem[]): Promise<SecretList> {
  requireValid(ctx, items);
  const { dropped } = await changeSecrets(ctx, slug, "agent.secret.update", (tx, id) =>
    saveSecrets(tx, ctx, id, items),
  );
  return { secrets: await listSecrets(ctx, slug), ...(dropped.length > 0 ? { dropped } : {}) };
}

function requireValid(ctx: Ctx, items: readonly SecretItem[]): void {
  requireNoProvider(
    ctx,
    items.map(({ key, value }) => (value === "" ? "" : key)),
  );
  const { plugins } = ctx;
  const declared = declaredSecrets(plugins);
  const issues = items.flatMap(({ key, value }, index) => {
    const problem = secretProblem(key, value, declared.get(key));
    return problem === null ? [] : [{ path: ["secrets", index, "value"], message: `${key} ${problem}` }];
  });
  if (issues.length > 0) throw invalid(issues);
}

/** Throws the 400 for keys and addresses of providers, where connections have these. */
function requireNoProvider({ options }: Ctx, keys: readonly string[]): void {
  if (!options.edition.has("providers")) return;
  const message = "Use provider connections";
  const issues = keys.flatMap((key, at) =>
    providerSecrets.includes(key) ? [{ path: `secrets.${at}.key`, message: `${key}: ${message}` }] : [],
  );
  if (issues.length > 0) throw new EngineError("bad-request", message, { issues });
}

/**
 * Deletes a secret, and with an address the key that would then be sent elsewhere. Idempotent. Throws the agent's 404.
 */
export async function deleteSecret(ctx: Ctx, slug: string, key: string): Promise<void> {
  requireNoProvider(ctx, [key]);
  await changeSecrets(ctx, slug, "agent.secret.delete", async (tx, id) => {
    const isStored = (await storedKeys(tx, id)).has(key);
    return { replaced: isStored ? [key] : [], dropped: await removeSecret(tx, ctx, id, key) };
  });
}

/** Makes a change that may also delete keys, which the audit log then lists. */
async function changeSecrets(
  ctx: Ctx,
  slug: string,
  action: string,
  change: (tx: Db, agentId: string) => Promise<SavedSecrets>,
): Promise<SavedSecrets> {
  const summary: { keys: string[]; dropped?: string[] } = { keys: [] };
  const unchanged = () => summary.keys.length === 0 && summary.dropped === undefined;
  return writeAgent(ctx, slug, { action, summary, unchanged }, async (tx, { id }) => {
    const saved = await change(tx, id);
    summary.keys = saved.replaced;
    if (saved.dropped.length > 0) summary.dropped = saved.dropped;
    else delete summary.dropped;
    return saved;
  });
}
