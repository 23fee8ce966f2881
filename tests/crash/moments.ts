import type { Database } from "../../src/db/client.ts";
import { plainText } from "../plain-text.ts";

/** The statements of a turn and of its job, by their beginnings. */
const moments = [
  [/^with given as materialized .* update jobs set locked_by/, "claim"],
  [/insert into turns/, "open"],
  [/\bturn as \( update turns set status/, "record"],
  [/^delete from jobs using /, "complete"],
] as const;

/** A process that kills itself when a moment is reached for the n-th time. */
export interface Dying {
  /** Reports that a moment was reached. */
  reach(moment: string): void;
  /** The database, whose statements and transactions are moments, except a claim that took no job of this kind. */
  watch(database: Database, kind: string): Database;
}

export function dieAt(moment: string, ordinal: number): Dying {
  let left = ordinal;
  const reach = (reached: string) => {
    if (reached !== moment) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  };
  if (moment === "ms") setTimeout(() => process.kill(process.pid, "SIGKILL"), ordinal);
  return {
    reach,
    watch(database, kind) {
      const query: Database["query"] = async (sql, parameters) => {
        const [, name] = moments.find(([pattern]) => pattern.test(plainText(sql))) ?? [];
        if (name === undefined) return database.query(sql, parameters);
        reach(`before ${name}`);
        const answer = database.query<never>(sql, parameters);
        // The statement is being sent by then, and may have run or not.
        setImmediate(() => reach(`during ${name}`));
        const rows = await answer;
        if (name !== "claim" || JSON.stringify(rows).includes(kind)) reach(`after ${name}`);
        return rows;
      };
      const transaction: Database["transaction"] = async (work) => {
        const result = await database.transaction(async (tx) => {
          const done = await work(tx);
          reach("before store");
          return done;
        });
        reach("after store");
        return result;
      };
      return { ...database, query, transaction };
    },
  };
}
