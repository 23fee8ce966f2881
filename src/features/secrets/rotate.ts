import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { sqlState } from "../../db/client.ts";
import { keyCheckPlace } from "./encryption-key.ts";

interface SealedColumn {
  table: string;
  column: string;
  keyId: string;
  /** An SQL expression of the row: what its value is bound to. */
  place: string;
}

/** Every column that holds sealed values. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: "installation", column: "key_check", keyId: "key_check_key_id", place: `'${keyCheckPlace}'` },
  {
    table: "secrets",
    column: "ciphertext",
    keyId: "key_id",
    place: "coalesce(agent_id, organization_id) || ':' || key",
  },
  { table: "channels", column: "config", keyId: "key_id", place: "agent_id || ':channel:' || type" },
  { table: "skill_env", column: "ciphertext", keyId: "key_id", place: "agent_id || ':' || skill_id || ':' || key" },
  { table: "plugins", column: "config", keyId: "key_id", place: "organization_id || ':plugin:' || namespace" },
];

interface SealedRow {
  /** Where the row lies. Another row can lie there later, so a write compares the ciphertext too. */
  ctid: string;
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
 * Re-seals under the current key whatever an older key sealed, and the marks by which the agent of an API key is found.
 * The server may go on meanwhile: a value that changes under way is left to its new writer. Answers how many values were
 * re-sealed. When some open with no configured key, the others are done all the same and it throws an `EngineError`.
 */
export async function rotateSecrets(services: Services): Promise<number> {
  const tally: Tally = { rotated: 0, unreadable: 0 };
  for (const column of sealedColumns) await rotateColumn(services, column, tally);
  if (tally.unreadable > 0) {
    throw new EngineError(
      "internal",
      `${tally.rotated} stored secrets were re-sealed, but ${tally.unreadable} open with no configured key: name their key in ENCRYPTION_KEY_PREVIOUS and run this again`,
    );
  }
  return tally.rotated;
}

async function rotateColumn(services: Services, sealed: SealedColumn, tally: Tally): Promise<void> {
  const { table, column, keyId, place } = sealed;
  const { database, cipher, log } = services;
  const select = `select ctid::text, ${place} as place, ${keyId} as "keyId", ${column} as ciphertext from ${table}
    where ${keyId} <> $1 and ${place} > $2 order by 2 limit ${batchSize}`;
  let after = "";
  for (;;) {
    const rows = await database.query<SealedRow>(select, [cipher.keyId, after]);
    for (const row of rows) {
      const plaintext = await cipher.open(row, row.place).catch(() => null);
      if (plaintext === null) {
        tally.unreadable += 1;
        log.warn({ table, place: row.place, keyId: row.keyId }, "A stored secret opens with no configured key");
      } else if (await reseal(services, sealed, row, plaintext)) {
        tally.rotated += 1;
      }
      after = row.place;
    }
    if (rows.length < batchSize) return;
  }
}

async function reseal({ database, cipher }: Services, sealed: SealedColumn, row: SealedRow, plaintext: string) {
  const { table, column, keyId } = sealed;
  const fresh = await cipher.seal(plaintext, row.place);
  const parameters = [fresh.keyId, fresh.ciphertext, row.ctid, row.ciphertext];
  const update = `update ${table} set ${keyId} = $1, ${column} = $2 where ctid = $3::tid and ${column} = $4`;
  if (table !== "secrets") {
    return (await database.query(`${update} returning 1 as done`, parameters)).length > 0;
  }
  return (await resealSecret({ database, cipher }, update, parameters, plaintext)).length > 0;
}

/** A secret together with the mark of the agent, whose row is locked first, as in every other change of its secrets. */
async function resealSecret(
  { database, cipher }: Pick<Services, "database" | "cipher">,
  update: string,
  parameters: readonly (string | Uint8Array)[],
  plaintext: string,
): Promise<object[]> {
  const [mark] = await cipher.fingerprints(plaintext);
  if (!mark) throw new Error("A cipher has at least one key");
  try {
    return await database.query(
      `with owner as (
         select id from agents where id = (select agent_id from secrets where ctid = $3::tid) for no key update
       ), sealed as (${update} and (select count(*) from owner) >= 0 returning agent_id, key
       ), marked as (
         update agents set auth_key_hmac = $5 from sealed where agents.id = sealed.agent_id and sealed.key = 'auth_api_key'
       ) select 1 as done from sealed`,
      [...parameters, mark],
    );
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    throw new EngineError("conflict", "Two agents share an API key: replace one of them, then run this again");
  }
}
