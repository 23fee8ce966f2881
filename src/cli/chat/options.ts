import { localAddress } from "../../core/addresses.ts";
import { type Environment, settings } from "../../core/config.ts";
import { agentSlugPattern } from "../../core/text/names.ts";
import { type Flags, textFlag, UsageError } from "../arguments.ts";
import type { Address } from "./refusal.ts";

export interface ChatOptions extends Address {
  key: string | undefined;
  /** Whether to begin another chat instead of continuing the last one. */
  fresh: boolean;
  /** Whether to print the events instead of the reply. */
  json: boolean;
}

/** Reads the options from the flags, then the environment, then defaults. Throws `UsageError`. */
export function readChatOptions(slug: string, flags: Flags, environment: Environment): ChatOptions {
  if (!agentSlugPattern.test(slug) || /^\.{1,2}$/.test(slug)) {
    throw new UsageError(`"${slug}" is no agent slug: those are 1 to 128 of a-z, 0-9, _, . and -`);
  }
  const key = (textFlag(flags, "key") ?? environment.AGENT_API_KEY)?.trim() || undefined;
  if (key !== undefined) checkKey(key);
  return {
    slug,
    url: readUrl(flags, environment),
    key,
    fresh: flags.new === true,
    json: flags.json === true,
  };
}

/** Throws a `UsageError` for a key that is not valid in a header, without repeating the key. */
export function checkKey(key: string): void {
  if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError("The key holds characters that no key has");
}

/** The server's address from `--url`; undefined without it. */
export function readServerUrl(flags: Flags): string | undefined {
  const flag = textFlag(flags, "url");
  // Accepts the `/v1` of the address of the chat-completions API, which other clients use.
  return flag && checked("--url", settings.shape.BASE_URL.safeParse(flag))?.replace(/\/v1$/, "");
}

function readUrl(flags: Flags, environment: Environment): string {
  const { BASE_URL, HOST, PORT } = settings.shape;
  const url = readServerUrl(flags);
  if (url !== undefined) return url;
  const base = checked("BASE_URL", BASE_URL.safeParse(environment.BASE_URL || undefined));
  if (base !== undefined) return base;
  const port = checked("PORT", PORT.safeParse(environment.PORT || undefined));
  if (port === 0) throw new UsageError("PORT is 0, which is any port: name the server with --url");
  return localAddress(checked("HOST", HOST.safeParse(environment.HOST || undefined)), port);
}

type ParseResult<T> = { success: true; data: T } | { success: false; error: { issues: { message: string }[] } };

function checked<T>(name: string, parsed: ParseResult<T>): T {
  if (!parsed.success) throw new UsageError(`${name} ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}
