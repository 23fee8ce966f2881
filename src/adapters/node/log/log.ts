import pino from "pino";
import { prettyFactory } from "pino-pretty";
import { type Environment, parseHeaders, type Settings } from "../../../core/config.ts";
import type { Log } from "../../../core/ports.ts";
import { type Scrub, scrubbed, scrubber } from "../../../core/scrub/scrub.ts";
import { visible } from "../../../core/text/text.ts";
import { readAddress } from "../../../db/address.ts";
import { loggableFields } from "./log-fields.ts";
import { type Output, openOutput } from "./output.ts";

interface LogOptions {
  level: Settings["LOG_LEVEL"];
  /** Whether to write colours and short lines for people, instead of JSON lines. */
  pretty: boolean;
  /** Values that are never written, in any field or message. */
  secrets: Iterable<string>;
  /** Receives each line; standard error by default, since standard output is for a command's result. */
  write?: (line: string) => void;
}

/** The structured log. */
export function createLog({ level, pretty: readable, secrets, write }: LogOptions): Log {
  const sayDropped = (lines: number) => log.warn({ lines }, "Lines of the log were dropped: nobody read them");
  const out: Output = write ? { write } : openOutput(sayDropped);
  const format = readable
    ? prettyFactory({ messageKey: "message", translateTime: "SYS:HH:MM:ss", singleLine: true, colorize: !write })
    : undefined;
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
      // `loggableFields` describes errors at any depth, pino only at the top.
      serializers: { err: (error: unknown) => error },
      hooks: { streamWrite: scrubLine(scrubber(secrets)) },
    },
    // The format for people removes the escapes of the JSON line, so `visible` adds them again.
    format ? { write: (line) => void out.write(visible(format(line))) } : out,
  );
  const log = adapt(root);
  return log;
}

function adapt(logger: pino.Logger): Log {
  const line = (level: "debug" | "info" | "warn" | "error"): Log["info"] => {
    return (fields, message) => {
      if (logger.isLevelEnabled(level)) logger[level](loggableFields(fields), message);
    };
  };
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: (fields) => adapt(logger.child(loggableFields(fields))),
  };
}

/** Patterns of credentials that are not in `secrets`: bearer tokens, the engine's own tokens, passwords in addresses. */
const shapes: [RegExp, string][] = [
  [/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, `$1 ${scrubbed}`],
  [/\b(ae[kspi]|sk|pk)[-_][\w-]{16,}/g, scrubbed],
  [/(:\/\/[^\s:@/"]*):[^\s@/"]+@/g, `$1:${scrubbed}@`],
  [/([?&](?:token|key|secret)=)[^\s&"]+/gi, `$1${scrubbed}`],
];

function scrubLine(known: Scrub): (line: string) => string {
  return (line) => visible(shapes.reduce((text, [shape, mark]) => text.replaceAll(shape, mark), known(line)));
}

/** The secrets among the environment variables. */
export function bootSecrets(environment: Environment): string[] {
  const plain = Object.entries(environment)
    .filter(([name]) => /(_API_KEY|PASSWORD|ENCRYPTION_KEY|METRICS_TOKEN|AGENT_ENGINE_KEY)$/.test(name))
    .map(([, value]) => value ?? "");
  const previous = (environment.ENCRYPTION_KEY_PREVIOUS ?? "").split(",");
  const { DATABASE_URL, DATABASE_LISTEN_URL } = environment;
  const passwords = [DATABASE_URL, DATABASE_LISTEN_URL]
    .map((url) => readAddress(url ?? "")?.password ?? "")
    .flatMap((password) => [password, encodeURIComponent(password)]);
  const headers = Object.entries(environment)
    .filter(([name]) => /^OTEL_EXPORTER_OTLP_(TRACES_)?HEADERS$/.test(name))
    .flatMap(([, value]) => [value ?? "", ...Object.values(parseHeaders(value ?? "") ?? {})]);
  return [...plain, ...previous, ...headers, ...passwords].map((value) => value.trim());
}
