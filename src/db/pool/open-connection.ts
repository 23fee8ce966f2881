import type { Clock } from "../../core/ports.ts";
import { withinTime } from "../../core/time/deadline.ts";
import { type Connection, type ConnectionOptions, connect, embeddedOptions, type Target } from "./connection.ts";
import { isReadOnly, takesNoWrites, tooLate } from "./failures.ts";
import { serverOptions } from "./server-options.ts";
import { withDeadline } from "./with-deadline.ts";

/** Connects to one host. `onClose` is called when the connection closes, before its running statements reject. */
type Connect = (onClose: () => void) => Connection;

/** How long a silent host is waited for before the next one is tried as well, in milliseconds (RFC 8305, section 8). */
const headStartMs = 250;

/** How long running statements may take at a close, in milliseconds. */
const closeMs = 5_000;

/** One connection, never reopened. To a server: to the first host of its address that takes writes. */
export function openConnection(target: Target, options: ConnectionOptions): Connection {
  if (!("url" in target)) return connect(embeddedOptions(target), options);
  const { statementTimeoutMs = 0, onClose = () => {}, clock } = options;
  const hosts = serverOptions(target, statementTimeoutMs).map(
    (host) => (ended: () => void) => connect(host, { ...options, onClose: ended }),
  );
  return connectToWritable(hosts, { pooled: target.pooled ?? false, statementTimeoutMs, clock, onClose });
}

interface Options {
  pooled: boolean;
  /** As for `ConnectionOptions`. */
  statementTimeoutMs: number;
  clock: Clock;
  onClose(): void;
}

/**
 * A connection to the first of these hosts that takes writes. Each host is asked before its first statement, since a
 * proxy or a name may lead to a standby. Statements reject with 25006 when a reached host takes no writes and no other
 * does, else with the first host's failure.
 */
function connectToWritable(hosts: readonly Connect[], options: Options): Connection {
  const { pooled, statementTimeoutMs, clock, onClose } = options;
  const candidates: Connection[] = [];
  let open: Connection | null = null;
  let session: string | null = null;
  let opening: Promise<Connection> | null = null;
  let over = false;
  let cancelNext = () => {};

  const choose = () =>
    new Promise<Connection>((resolve, reject) => {
      const failures: unknown[] = [];
      const tryNext = () => {
        cancelNext();
        const connect = hosts[candidates.length];
        if (!connect || over) return;
        let chosen = false;
        const candidate = connect(() => {
          if (chosen) onClose();
        });
        candidates.push(candidate);
        cancelNext = clock.after(headStartMs, tryNext);
        const take = (facts: Facts) => {
          if (over) return candidate.destroy();
          end();
          chosen = true;
          for (const other of candidates) if (other !== candidate) other.destroy();
          session = pooled ? "" : facts.session;
          open = facts.endless && statementTimeoutMs > 0 ? withDeadline(candidate, statementTimeoutMs) : candidate;
          resolve(open);
        };
        const fail = (error: unknown) => {
          candidate.destroy();
          failures.push(error);
          if (over || failures.length === hosts.length) reject(failures.find(isReadOnly) ?? failures[0]);
          else tryNext();
        };
        requireWritable(candidate).then(take, fail);
      };
      tryNext();
    });

  const end = () => {
    over = true;
    cancelNext();
  };
  const destroy = () => {
    end();
    for (const candidate of candidates) candidate.destroy();
  };

  return {
    run(...statement) {
      if (open) return open.run(...statement);
      opening ??= choose();
      return opening.then((connection) => connection.run(...statement));
    },
    session: () => session,
    async close() {
      const closeOpened = async () => {
        await opening?.catch(() => {});
        await open?.close();
      };
      await withinTime(clock, closeMs, tooLate(), closeOpened).catch(() => {});
      destroy();
    },
    destroy,
  };
}

interface Facts {
  readOnly: boolean;
  session: string;
  /** Whether the session's statements have no deadline. */
  endless: boolean;
}

/** The name of a session, in SQL, for a row of `pg_stat_activity`: ids of processes come back, also on another server. */
export const sessionName = "pid || '/' || extract(epoch from backend_start)";

const facts = `
  select current_setting('transaction_read_only') = 'on' as "readOnly", ${sessionName} as session,
    current_setting('statement_timeout') = '0' as endless
  from pg_stat_activity where pid = pg_backend_pid()`;

async function requireWritable(connection: Connection): Promise<Facts> {
  const [row] = (await connection.run(facts, [], "objects")) as readonly unknown[] as readonly Facts[];
  if (!row) throw new Error("The server does not know its session");
  if (row.readOnly) throw takesNoWrites();
  return row;
}
