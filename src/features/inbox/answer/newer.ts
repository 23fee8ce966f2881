import type { Services } from "../../../context/ctx.ts";
import { newestSeq } from "./pending.ts";

/** Tells this process's running answers about newer messages. */
export interface Newer {
  /** Watches a conversation for messages after number `seq`. */
  watch(conversationId: string, seq: number): Arrivals;
}

export interface Arrivals {
  /** Calls `hear` when a newer message has arrived, possibly at once. */
  hear(hear: () => void): void;
  end(): void;
}

type Look = () => Promise<void>;

/** A notification may be out of date, so the database is asked whether there is a newer message. */
export function createNewer({ notify, database, log }: Pick<Services, "notify" | "database" | "log">): Newer {
  const watching = new Map<string, Set<Look>>();
  const look = (looks: Iterable<Look>) => {
    for (const one of [...looks]) {
      // If this read fails, RECORD still notices the newer message.
      one().catch((err: unknown) => log.debug({ err }, "Whether a newer message came could not be read"));
    }
  };
  notify.listen(
    "inbox",
    (conversationId) => look(watching.get(conversationId) ?? []),
    () => look([...watching.values()].flatMap((looks) => [...looks])),
  );
  return {
    watch(conversationId, seq) {
      let came = false;
      let heard = () => {};
      const see = async () => {
        if (came || (await newestSeq(database.db, conversationId)) <= seq) return;
        came = true;
        heard();
      };
      const looks = watching.get(conversationId) ?? new Set();
      watching.set(conversationId, looks.add(see));
      return {
        hear(hear) {
          heard = hear;
          if (came) hear();
        },
        end() {
          heard = () => {};
          looks.delete(see);
          if (looks.size === 0 && watching.get(conversationId) === looks) watching.delete(conversationId);
        },
      };
    },
  };
}
