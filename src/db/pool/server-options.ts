import { readAddress } from "../address.ts";

/** A server, or the hosts of its address. `pooled`: there is a pooler in front of the server, which refuses unknown settings. */
export interface Server {
  url: string;
  pooled?: boolean;
}

/**
 * The driver's options for each host of a server, with the deadline of its statements in milliseconds, 0 for none. The
 * driver can't read the address itself, since it supports neither `[::1]` nor sockets.
 */
export function serverOptions({ url, pooled = false }: Server, statementTimeoutMs: number): object[] {
  const address = readAddress(url);
  if (!address) throw new Error("The address of the database can't be read");
  const { hosts, socketDirectory, user, password, database, parameters } = address;
  const { ssl, sslmode = ssl, sslnegotiation, ...others } = parameters;
  for (const name of notOfServers) delete others[name];
  const given = {
    path: socketDirectory === null ? undefined : `${socketDirectory}/.s.PGSQL.${hosts[0]?.port}`,
    username: user,
    password,
    database,
    ssl: others.sslrootcert === "system" ? "verify-full" : sslmode && (unencrypted.has(sslmode) ? false : sslmode),
    sslnegotiation,
  };
  return hosts.map(({ host, port }) => ({
    // As lists: the driver splits a text at its colons.
    host: [host],
    port: [port],
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    connection: {
      application_name: "agent-engine",
      ...others,
      TimeZone: "UTC",
      DateStyle: "ISO",
      ...(pooled ? {} : { ...ownSettings, statement_timeout: String(statementTimeoutMs) }),
    },
  }));
}

const unencrypted = new Set(["disable", "false"]);

/** Parameters that drivers read from an address but PostgreSQL refuses. */
const notOfServers = [
  "target_session_attrs",
  ...["channel_binding", "gssencmode", "pgbouncer", "connection_limit", "pool_timeout", "connect_timeout"],
  ...["idle_timeout", "max_lifetime", "max_pipeline", "keep_alive", "max", "prepare"],
];

/** Settings that statements rely on, whatever the role's and the database's defaults are. */
const ownSettings = {
  bytea_output: "hex",
  default_transaction_isolation: "read committed",
  // Migrations name the first schema; some services install extensions into the other one.
  search_path: "public, extensions",
  standard_conforming_strings: "on",
  row_security: "on",
  array_nulls: "on",
  transform_null_equals: "off",
  extra_float_digits: "1",
  IntervalStyle: "postgres",
  lock_timeout: "0",
};

/**
 * Lists this session's wrong settings as texts, in SQL. Behind a pooler the session can't set them. Empty when none
 * would change a result.
 */
export const foreignSettings = `
  array(
    select name || ' is ' || setting from pg_settings
    where (name = 'bytea_output' and setting <> 'hex')
      or (name = 'default_transaction_isolation' and setting <> 'read committed')
      or (name in ('standard_conforming_strings', 'row_security', 'array_nulls') and setting <> 'on')
      or (name = 'transform_null_equals' and setting <> 'off')
      or (name = 'extra_float_digits' and setting::int < 1)
      or (name = 'search_path' and current_schema() is distinct from 'public')
    order by name)`;
