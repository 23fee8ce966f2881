import { z } from "zod";
import { type Feature, features } from "./edition.ts";
import { fromBase64 } from "./ids.ts";
import { addressProblem, providerVariables } from "./models/providers.ts";
import "./validation.ts";

/** Variables whose settings became installation policies. At a start, the server warns about them. */
const retired = {
  AGENT_CALL_TIMEOUT_MS: "agentCallTimeoutSeconds",
  SSE_MAX_CONNECTIONS: "activityConnections.total",
  SSE_MAX_CONNECTIONS_PER_USER: "activityConnections.perUser",
  MESSAGE_SOFT_DEBOUNCE_MS: "debounceMs",
  MESSAGE_TYPING_DELAY_MS: "typingDelayMs",
  MESSAGE_MAX_RESTARTS: "maxRestarts",
} as const;

const flag = z.enum(["true", "false"], "must be true or false").transform((value) => value === "true");
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);

/** An http or https address, without trailing slashes. */
const httpAddress = z
  .string()
  .max(2048, "must be at most 2048 characters")
  .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), "must be an http or https address")
  .transform((value) => value.replace(/\/+$/, ""));

/** Whether an address can be put before a path, and be logged: it has no password, no query and nothing to escape. */
const isBareAddress = (value: string) => {
  const url = URL.parse(value);
  return !/[\s\p{Cc}\p{Cs}]/u.test(value) && url !== null && !/[?#]/.test(value) && !url.username && !url.password;
};

/** An `httpAddress` that can be put before a path. */
export const bareAddress = httpAddress.refine(isBareAddress, "must have no spaces, password, query or fragment");

const keyFormat = "must be 32 bytes, as base64 or as 64 hexadecimal characters";

function parseKey(value: string): Uint8Array<ArrayBuffer> | null {
  const bytes = /^[0-9a-f]{64}$/i.test(value)
    ? Uint8Array.from(value.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : fromBase64(value);
  return bytes?.length === 32 ? bytes : null;
}

/** A key of 32 bytes, read from base64 or hexadecimal text. */
export const encryptionKey = z.string().transform((value, context) => {
  const bytes = parseKey(value.trim());
  if (bytes) return bytes;
  context.addIssue({ code: "custom", message: keyFormat });
  return z.NEVER;
});

const encryptionKeys = z
  .string()
  .transform((value) => value.split(",").filter((part) => part.trim() !== ""))
  .pipe(z.array(encryptionKey));

const commaList = z.string().transform((value) =>
  value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

/** Reads headers from a list `name=value,name=value`; null for an invalid one. */
export function parseHeaders(text: string): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const part of text.split(",").filter((one) => one.trim() !== "")) {
    const [, name, encoded] = /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=(.*)$/.exec(part) ?? [];
    const value = encoded === undefined ? null : decoded(encoded.trim());
    if (name === undefined || value === null || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return null;
    headers[name] = value;
  }
  return headers;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const headerList = z.string().transform((value, context) => {
  const headers = parseHeaders(value);
  if (headers) return headers;
  context.addIssue({
    code: "custom",
    message: "must be name=value pairs, comma-separated, with percent-encoded values",
  });
  return z.NEVER;
});

/** A list of features; `all` stands for all of them. */
const featureList = commaList.transform((names, context): readonly Feature[] => {
  const unknown = names.filter((name) => name !== "all" && !features.some((feature) => feature === name));
  for (const name of unknown) {
    context.addIssue({ code: "custom", message: `${name} is no feature: ${features.join(", ")}` });
  }
  return names.includes("all") ? features : features.filter((feature) => names.includes(feature));
});

const postgresAddress = z.string().regex(/^postgres(ql)?:\/\//, "must start with postgres:// or postgresql://");

/** The default number of chat requests a minute from one client address. */
export const usualChatRequests = 20;

/** Every setting of a start: variable, form, default, purpose. `npm run generate` writes docs/configuration.md from it. */
export const settings = z.object({
  PORT: wholeNumber(0, 65_535).default(4000).describe("Port to listen on; 0 takes a free one."),
  HOST: z.string().default("127.0.0.1").describe("Address to listen on; 0.0.0.0 for all."),
  BASE_URL: bareAddress.optional().describe("Public address of the installation; http://HOST:PORT when absent."),
  TRUST_PROXY: wholeNumber(0, 32).default(0).describe("How many proxies in front set X-Forwarded-For."),
  CHAT_REQUESTS_PER_MINUTE: wholeNumber(0, 1_000_000)
    .default(usualChatRequests)
    .describe("Chat completions a minute from one client address, such as a backend's; 0 for no limit."),
  DATA_DIR: z.string().default("./.agent-engine").describe("Where the embedded database, its key and its files live."),
  DATABASE_URL: postgresAddress.optional().describe("PostgreSQL to use instead of the embedded database."),
  DATABASE_LISTEN_URL: postgresAddress
    .optional()
    .describe("PostgreSQL's own address, to hear the other replicas where DATABASE_URL leads to a transaction pooler."),
  DATABASE_POOL: wholeNumber(1, 500).default(10).describe("Connections to PostgreSQL; the embedded database has one."),
  DATABASE_PREPARE: flag.default(true).describe("Named prepared statements; false behind a transaction pooler."),
  DATABASE_TIMEOUT_SECONDS: wholeNumber(1, 600).default(15).describe("Deadline of one statement."),
  ENCRYPTION_KEY: encryptionKey
    .optional()
    .describe("Key of all stored secrets: 32 bytes as base64 or hexadecimal. Required with DATABASE_URL."),
  ENCRYPTION_KEY_PREVIOUS: encryptionKeys
    .default([])
    .describe("Earlier keys, comma-separated: they still open what they sealed."),
  OWNER_EMAIL: z.email("must be an e-mail address").optional().describe("E-mail of the first owner, made at boot."),
  OWNER_PASSWORD: z
    .string()
    .min(8, "must have at least 8 characters")
    .max(256, "must have at most 256 characters")
    .optional()
    .describe("Password of the first owner."),
  ALLOW_STDIO_MCP: flag
    .default(false)
    .describe("Whether organizations may have MCP servers started as processes, which run with the server's rights."),
  S3_ENDPOINT: httpAddress
    .optional()
    .describe("Address of an S3-compatible service to use instead of Amazon's, for the files of all agents."),
  TELEGRAM_API_BASE_URL: httpAddress.optional().describe("Address to use instead of Telegram's API."),
  SLACK_API_BASE_URL: httpAddress.optional().describe("Address to use instead of Slack's API."),
  TWILIO_API_BASE_URL: httpAddress.optional().describe("Address to use instead of Twilio's API, for WhatsApp."),
  PLUGINS: commaList
    .default([])
    .describe(
      "Plugins to load: packages, or paths such as `./weather.js` from the working directory, comma-separated.",
    ),
  GITHUB_API_BASE_URL: httpAddress
    .optional()
    .describe("Address to use instead of GitHub's API, such as that of GitHub Enterprise."),
  RENDER_API_BASE_URL: httpAddress.optional().describe("Address to use instead of Render's API."),
  HUBSPOT_API_BASE_URL: httpAddress.optional().describe("Address to use instead of HubSpot's API."),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpAddress
    .optional()
    .describe("OpenTelemetry collector that gets traces of all agents, as OTLP over HTTP in JSON, at `/v1/traces`."),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpAddress.optional().describe("The whole address, in its place."),
  OTEL_EXPORTER_OTLP_HEADERS: headerList
    .optional()
    .describe("Headers for the collector: `name=value`, comma-separated, values percent-encoded."),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headerList.optional().describe("More of them; they win over the others."),
  OTEL_SERVICE_NAME: z.string().max(256).default("agent-engine").describe("How the collector names this service."),
  DRAIN_SECONDS: wholeNumber(0, 3600)
    .default(0)
    .describe("How long a stop still takes new work while /health and /ready answer 503; the grace begins after it."),
  SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 3600).default(30).describe("How long running turns may finish at a stop."),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,256}$/, "must be 16 to 256 visible ASCII characters")
    .optional()
    .describe("What a monitoring server shows to read /metrics, as Authorization: Bearer; without it there is none."),
  PANEL: z
    .enum(["on", "off"], "must be on or off")
    .default("on")
    .describe("Whether the admin panel is served at /; off leaves the API alone."),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("Least level that is logged."),
  EDITION: z
    .enum(["open", "managed"], "must be open or managed")
    .default("open")
    .describe("Edition to serve: open, or managed (docs/managed.md)."),
  FEATURES: featureList
    .prefault("all")
    .describe("Features of the managed edition that are on, comma-separated; `all` stands for all of them."),
});

export type Settings = z.infer<typeof settings>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Lists every problem of the environment, each with the name of its variable. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
    this.name = "ConfigError";
  }
}

/** Reads the settings; an empty variable counts as absent. Throws `ConfigError`. */
export function parseSettings(environment: Environment): Settings {
  const present = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  );
  const result = settings.safeParse(present);
  if (!result.success) {
    throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`));
  }
  const { OWNER_EMAIL, OWNER_PASSWORD, DATABASE_URL, DATABASE_LISTEN_URL, ENCRYPTION_KEY } = result.data;
  const problems: string[] = [];
  if (OWNER_EMAIL && !OWNER_PASSWORD) problems.push("OWNER_PASSWORD must be set together with OWNER_EMAIL");
  if (OWNER_PASSWORD && !OWNER_EMAIL) problems.push("OWNER_EMAIL must be set together with OWNER_PASSWORD");
  if (DATABASE_URL && !ENCRYPTION_KEY) {
    problems.push("ENCRYPTION_KEY must be set together with DATABASE_URL; make one with: openssl rand -base64 32");
  }
  if (DATABASE_LISTEN_URL && !DATABASE_URL) problems.push("DATABASE_LISTEN_URL needs a DATABASE_URL");
  problems.push(...addressProblems(environment));
  if (problems.length > 0) throw new ConfigError(problems);
  return result.data;
}

/** A sentence for each variable with an invalid provider address. */
function addressProblems(environment: Environment): string[] {
  return Object.entries(providerVariables).flatMap(([variable, secret]) => {
    const value = secret.endsWith("_base_url") && environment[variable]?.trim();
    const problem = value ? addressProblem(value) : null;
    return problem ? [`${variable} ${problem}`] : [];
  });
}

/** A sentence for each retired variable that is still set. */
export function retiredSettings(environment: Environment): string[] {
  return Object.entries(retired)
    .filter(([name]) => environment[name] !== undefined)
    .map(([name, policy]) => `${name} is no longer read: set the installation policy ${policy} instead`);
}

/** The providers' keys and addresses in the environment, by the names of the agent secrets that can replace them. */
export function environmentKeys(environment: Environment): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const [variable, secret] of Object.entries(providerVariables)) {
    const value = environment[variable];
    if (value) keys.set(secret, value);
  }
  return keys;
}
