import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { sqlState } from "../../db/client.ts";
import { keyCheckPlace } from "./encryption-key.ts";

/** Where sealed values lie, in SQL expressions of the row. */
interface Sealing {
  table: string;
  ciphertext: string;
  keyId: string;
  /** What the value is bound to. */
  place: string;
  /** Sets the key to `$1` and the ciphertext to `$2`. */
  set: string;
}

const inColumns = (table: string, ciphertext: string, keyId: string, place: string): Sealing => ({
  ...{ table, ciphertext, keyId, place },
  set: `${keyId} = $1, ${ciphertext} = $2`,
});

/** All that is sealed. */
export const sealings: readonly Sealing[] = [
  inColumns("installation", "key_check", "key_check_key_id", `'${keyCheckPlace}'`),
  inColumns("secrets", "ciphertext", "key_id", "coalesce(agent_id, organization_id) || ':' || key"),
  inColumns("channels", "config", "key_id", "agent_id || ':channel:' || type"),
  inColumns("skill_env", "ciphertext", "key_id", "agent_id || ':' || skill_id || ':' || key"),
  inColumns("plugins", "config", "key_id", "organization_id || ':plugin:' || namespace"),
  {
    table: "jobs",
    // The keys to a bucket whose files are to be deleted; of a job that failed for good nobody needs them.
    keyId: "case when kind = 'deleteFiles' and status = 'pending' then payload #>> '{keys,keyId}' end",
    ciphertext: "decode(payload #>> '{keys,ciphertext}', 'base64')",
    place: "'files:' || (payload ->> 'batch')",
    set: `payload = jsonb_set(payload, '{keys}',
      jsonb_build_object('keyId', $1::text, 'ciphertext', translate(encode($2::bytea, 'base64'), E'\\n', '')))`,
  },
];

interface SealedRow {
  /** Where the row lies. Another row can lie there later, so a write compares the ciphertext too. */
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
 * Re-seals under the current key whatever an older key sealed, and the marks by which the agent of an API key is found.
 * The server may go on meanwhile: a row that is written under way is looked at again. Answers how many values were
 * re-sealed. When some open with no configured key, the others are done all the same and it throws an `EngineError`.
 */
export async function rotateSecrets(services: Services): Promise<number> {
  const tally: Tally = { rotated: 0, unreadable: 0 };
  for (const sealing of sealings) await rotateSealing(services, sealing, tally);
  if (tally.unreadable > 0) {
    throw new EngineError(
      "internal",
      `${tally.rotated} stored secrets were re-sealed, but ${tally.unreadable} open with no configured key: name their key in ENCRYPTION_KEY_PREVIOUS and run this again`,
    );
  }
  return tally.rotated;
}

async function rotateSealing(services: Services, sealing: Sealing, tally: Tally): Promise<void> {
  const { table, ciphertext, keyId, place } = sealing;
  const { database, cipher, log } = services;
  const select = `select ctid::text as row, ${place} as place, ${keyId} as "keyId", ${ciphertext} as ciphertext
    from ${table} where ${keyId} <> $1 and ${place} > $2 order by 2 limit ${batchSize}`;
  let after = "";
  let unreadable = 0;
  let moved = false;
  for (;;) {
    const rows = await database.query<SealedRow>(select, [cipher.keyId, after]);
    for (const row of rows) {
      const plaintext = await cipher.open(row, row.place).catch(() => null);
      if (plaintext === null) {
        unreadable += 1;
        log.warn({ table, place: row.place, keyId: row.keyId }, "A stored secret opens with no configured key");
      } else if (await reseal(services, sealing, row, plaintext)) {
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

async function reseal({ database, cipher }: Services, sealing: Sealing, sealed: SealedRow, plaintext: string) {
  const { table, ciphertext, set } = sealing;
  const fresh = await cipher.seal(plaintext, sealed.place);
  const parameters = [fresh.keyId, fresh.ciphertext, sealed.row, sealed.ciphertext];
  const update = `update ${table} set ${set} where ctid = $3::tid and ${ciphertext} = $4`;
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
