import { ConfigError } from "../core/config.ts";

/** Explains the error that ended a command, in lines that say what to do; never a stack trace. */
export function explain(error: unknown): string[] {
  if (error instanceof ConfigError) return [...error.problems];
  if (!(error instanceof Error)) return [`Unexpected failure: ${String(error)}`];
  const known = isSystemError(error) ? explainSystemError(error) : undefined;
  return [known ?? oneLine(error.message)];
}

interface SystemError extends Error {
  code: string;
  syscall?: string;
  address?: string;
  hostname?: string;
  port?: number;
}

function isSystemError(error: Error): error is SystemError {
  return "code" in error && typeof error.code === "string";
}

/** Explains why the server could not use its port. Node reports no port when any was requested, and -1 for a file. */
function explainSystemError({ code, syscall, address, hostname, port = 0 }: SystemError): string | undefined {
  if (syscall === "getaddrinfo") return `HOST ${hostname} is not known here; set HOST to an address of this machine`;
  if (syscall !== "listen" || port < 0) return undefined;
  if (code === "EADDRINUSE") {
    const other = port === 65_535 ? 4000 : port + 1;
    return `Port ${port} on ${address} is taken; stop what uses it or choose another, for example PORT=${other}`;
  }
  if (code === "EACCES") return `Port ${port} may not be opened by this user; choose one above 1023, such as PORT=4000`;
  if (code === "EADDRNOTAVAIL") return `HOST ${address} is not an address of this machine; try HOST=127.0.0.1`;
  return undefined;
}

function oneLine(message: string): string {
  const text = message.replaceAll(/\s*\n\s*/g, " ").trim();
  return text === "" ? "Unexpected failure without a message" : text;
}
