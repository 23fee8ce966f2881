import { getTableName, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { audit } from "../../context/audit.ts";
import type { Services } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { sqlState } from "../../db/client.ts";
import { assign } from "../../db/fragments.ts";
import { agents, secrets } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { type Sealing, sealings } from "./sealings.ts";

interface SealedRow {
  /** The row's `ctid`. Later another row may get the same one, so a write compares the ciphertext too. */
  row: string;
  place: string;
  keyId: string;
  ciphertext: Uint8Array;
}

interface Tally {
  rotated: number;
  unreadable: number;
}

const batchSize = 100;

/**
 * Seals every value that is sealed with an older key again with the current key, and renews the marks by which the
 * agent of an API key or of a messenger's account is found. The server may run meanwhile: a row that another
 * transaction writes is read again. Returns the number of values. If no configured key opens some of them, it seals the
 * others and then throws an `EngineError`.
 */
export async function rotateSecrets(services: Services): Promise<number> {
  const tally: Tally = { rotated: 0, unreadable: 0 };
  for (const sealing of sealings) await rotateSealing(services, sealing, tally);
  await audit(services.database.db, {
    action: "encryption-key.rotate",
    target: "secrets",
    organizationId: null,
    actor: { type: "system", id: null, name: null },
    request: { id: "command-line", ip: "" },
    success: tally.unreadable === 0,
    summary: { resealed: tally.rotated, unreadable: tally.unreadable },
  });
  if (tally.unreadable > 0) {
    throw new EngineError(
      "internal",
      `${tally.rotated} stored secrets were re-sealed, but ${tally.unreadable} open with no configured key: name their key in ENCRYPTION_KEY_PREVIOUS and run this again`,
    );
  }
  return tally.rotated;
}

async function rotateSealing(services: Services, sealing: Sealing, tally: Tally): Promise<void> {
  const { database, cipher, log } = services;
  const table = getTableName(sealing.table);
  const [read, write] = [readStatement(sealing), writeStatement(sealing)];
  let after = "";
  let unreadable = 0;
  let moved = false;
  for (;;) {
    const rows = await read.run(database, { keyId: cipher.keyId, after });
    for (const row of rows) {
      const plaintext = await cipher.open(row, row.place).catch(() => null);
      if (plaintext === null) {
        unreadable += 1;
        log.warn({ table, place: row.place, keyId: row.keyId }, "A stored secret opens with no configured key");
      } else if (await reseal(services, sealing, write, row, plaintext)) {
        tally.rotated += 1;
      } else {
        moved = true;
      }
      after = row.place;
    }
    if (rows.length === batchSize) continue;
    if (!moved) break;
    [after, unreadable, moved] = ["", 0, false];
  }
  tally.unreadable += unreadable;
}

/** Reads a batch of a table's values that are sealed with another key than the current one, by AAD. */
function readStatement({ table, place, keyId, ciphertext }: Sealing) {
  return statement({ keyId: "text", after: "text" }, (current) => {
    const page = sql`${keyId} <> ${current.keyId} and ${place} > ${current.after}`;
    return sql<SealedRow>`
      select ctid::text as row, ${place} as place, ${keyId} as "keyId", ${ciphertext} as ciphertext
      from ${table} where ${page} order by 2 limit ${batchSize}`;
  });
}

/**
 * Replaces a value, unless its row was changed since it was read. A secret is written together with its agent's mark.
 * The agent's row is locked first, as in every change of its secrets.
 */
function writeStatement({ table, ciphertext, set }: Sealing) {
  const sealed = alias(secrets, "sealed");
  return statement(
    { keyId: "text", ciphertext: "bytea", mark: "bytea", row: "tid", known: "bytea" },
    ({ row, known, ...fresh }) => {
      const update = sql`update ${table} set ${set(fresh)} where ctid = ${row} and ${ciphertext} = ${known}`;
      if (table !== secrets) return sql`${update} returning 1 as done`;
      return sql`
        with owner as (
          select ${agents.id} from ${agents}
          where ${agents.id} = (select ${secrets.agentId} from ${secrets} where ctid = ${row}) for no key update
        ), ${sealed} as (
          ${update} and (select count(*) from owner) >= 0 returning ${secrets.agentId}, ${secrets.key}
        ), marked as (
          update ${agents} set ${assign(agents, { authKeyHmac: fresh.mark })} from ${sealed}
          where ${agents.id} = ${sealed.agentId} and ${sealed.key} = 'auth_api_key'
        ) select 1 as done from ${sealed}`;
    },
  );
}

/** Seals a value again; returns false when its row was changed since it was read. */
async function reseal(
  { database, cipher }: Services,
  { marked = (_place, text) => text }: Sealing,
  write: ReturnType<typeof writeStatement>,
  { row, place, ciphertext: known }: SealedRow,
  plaintext: string,
): Promise<boolean> {
  const [mark] = await cipher.fingerprints(marked(place, plaintext) ?? "");
  if (!mark) throw new Error("A cipher has at least one key");
  const { keyId, ciphertext } = await cipher.seal(plaintext, place);
  try {
    return (await write.run(database, { keyId, ciphertext, mark, row, known })).length > 0;
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    throw new EngineError("conflict", "Two agents share an API key: replace one of them, then run this again");
  }
}
