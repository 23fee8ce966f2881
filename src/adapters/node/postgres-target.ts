import type { Settings } from "../../core/config.ts";
import { EngineError, StartError } from "../../core/errors.ts";
import { readAddress, shownHosts } from "../../db/address.ts";
import type { Target } from "../../db/pool/connection.ts";
import { failureCode } from "../../db/pool/failures.ts";

/** The database at an address of the settings; throws a `StartError` for an unreadable one. */
export function postgresTarget(
  url: string,
  { DATABASE_PREPARE }: Pick<Settings, "DATABASE_PREPARE">,
  variable: "DATABASE_URL" | "DATABASE_LISTEN_URL" = "DATABASE_URL",
): Target {
  const address = readAddress(url);
  if (!address) {
    throw new StartError(
      `${variable} can't be read: it is postgres://user:password@host:5432/database, with special characters of user and password percent-encoded, and for a socket postgres://user@localhost:5432/database?host=/path`,
    );
  }
  const { target_session_attrs: wanted = "primary" } = address.parameters;
  if (wanted !== "primary") {
    throw new StartError(
      `${variable} asks for target_session_attrs=${wanted}: write target_session_attrs=primary, which finds the host that takes writes`,
    );
  }
  return { url, pooled: !DATABASE_PREPARE };
}

/**
 * A one-line `StartError`, without the password, that explains why PostgreSQL can't be used. Other errors are returned
 * unchanged.
 */
export function explainPostgres(error: unknown, url: string): unknown {
  if (error instanceof StartError || !(error instanceof Error)) return error;
  const { host, user, database } = describe(url);
  const { message } = rootOf(error);
  const code = failureCode(rootOf(error)) ?? "";
  const where = `PostgreSQL at ${host} (DATABASE_URL)`;
  const reason = (text: string) => new StartError(text, { cause: error });

  if (code === "28P01") return reason(`${where} refuses the password of user ${user}: correct it in DATABASE_URL`);
  if (code.startsWith("28")) {
    const hint = /no encryption|SSL off/i.test(message) ? "add ?sslmode=require to DATABASE_URL" : "ask its operator";
    return reason(`${where} does not let user ${user} in (${message}): ${hint}`);
  }
  if (code === "25006") {
    return reason(
      `${where} takes no writes: it is a standby, or default_transaction_read_only is on for the role or database`,
    );
  }
  if (code === "3D000") return reason(`${where} has no database ${database}: make it with createdb ${database}`);
  if (code === "08P01" && /startup parameter/.test(message)) {
    return reason(`${where} is a pooler that refuses a setting (${message}): set DATABASE_PREPARE=false`);
  }
  if (code === "42704" || code === "08P01") {
    return reason(
      `${where} refuses a setting (${message}): take it out of DATABASE_URL, or set DATABASE_PREPARE=false behind a pooler`,
    );
  }
  if (code === "53300" && /for role/.test(message)) {
    return reason(
      `${where} gives user ${user} no more connections (${message}): lower DATABASE_POOL, or raise the limit with alter role … connection limit`,
    );
  }
  if (code === "53300")
    return reason(`${where} takes no more connections: lower DATABASE_POOL or raise max_connections`);
  if (code === "57P03") return reason(`${where} is starting or stopping: try again in a moment`);
  if (error instanceof EngineError || code === "CONNECT_TIMEOUT") {
    return reason(`${where} does not answer: check that it is PostgreSQL, and that it is not stopped`);
  }
  if (/before secure TLS connection/.test(message)) {
    return reason(`${where} refuses TLS: turn ssl on in PostgreSQL, or take sslmode out of DATABASE_URL`);
  }
  if (certificateTrouble.test(code)) {
    return reason(
      `${where} has a certificate that can't be trusted (${code}): name its authority's file in NODE_EXTRA_CA_CERTS, or set sslmode=require, which encrypts and trusts any`,
    );
  }
  if (/^[0-9A-Z]{5}$/.test(code) && /^\d/.test(code)) return reason(`${where} fails: ${message}`);
  return reason(`${where} can't be reached (${code || message}): check that it runs and that the address is right`);
}

/** `explainPostgres` for a start with an open database, which may fail for other reasons. */
export const explainBoot = (error: unknown, { DATABASE_URL: url }: Pick<Settings, "DATABASE_URL">): unknown =>
  url !== undefined && error instanceof EngineError && error.code === "unavailable"
    ? explainPostgres(error, url)
    : error;

/** Codes of Node and OpenSSL. */
const certificateTrouble = /CERT_|_CERT|UNABLE_TO_(GET|VERIFY)|ALTNAME/;

/** The original error that the pool wrapped for callers. */
const rootOf = (error: Error): Error =>
  error instanceof EngineError && error.cause instanceof Error ? rootOf(error.cause) : error;

function describe(url: string): { host: string; user: string; database: string } {
  const address = readAddress(url);
  const { user = "(none)", database = user } = address ?? {};
  return { host: address ? shownHosts(address) : "(unknown)", user, database };
}
