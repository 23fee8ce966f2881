import { isMask } from "../../../../core/credentials/masks.ts";
import { firstHop } from "../../../../core/egress/request.ts";
import { parseTarget } from "../../../../core/egress/target.ts";
import type { McpTransport } from "../../../../core/ports.ts";
import { secretLines, shortSecretProblem } from "../../../../core/scrub/scrub.ts";
import { isSecretSegment, longValue } from "./masks.ts";

/**
 * Namespaces of the engine's own tools and of its plugins, even those not installed, since an update may install them.
 * `agent` is the prefix of agents as tools.
 */
const reserved: ReadonlySet<string> = new Set([
  ...["agent", "builtin"],
  ...["github", "render", "hubspot", "markdown-pdf", "files"],
]);

/** The problem of a namespace; null for a valid one. */
export function namespaceProblem(namespace: string): string | null {
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(namespace)) {
    return "namespace: must be 1 to 32 lower-case letters, digits or dashes, and not begin with a dash";
  }
  return reserved.has(namespace)
    ? `namespace: ${namespace} is reserved; choose another one, such as my-${namespace}`
    : null;
}

/** The problem of a server's address; null for a valid one. */
export function urlProblem(url: string): string | null {
  return messageOf(() => parseTarget(url));
}

/** Headers that the MCP client sets itself. */
const protocolHeader = /^(accept|content-type|last-event-id|mcp-.*)$/i;
const mostHeaders = 32;

/** The problem of a server's headers; null for valid ones. A masked value is always valid. */
export function headersProblem(headers: Readonly<Record<string, string>>): string | null {
  const entries = Object.entries(headers).map(([name, value]) => [name, isMask(value) ? "" : value]);
  if (entries.length > mostHeaders) return `must have at most ${mostHeaders} entries`;
  const own = entries.find(([name = ""]) => protocolHeader.test(name));
  if (own) return `The header ${own[0]} is the protocol's; leave it out`;
  const short = shortCredential(headers);
  if (short !== null) return short;
  const { signal } = new AbortController();
  const limits = { allowedHosts: [], sensitive: true, maxBytes: 0, signal };
  return messageOf(() =>
    firstHop({ url: "http://localhost", method: "POST", headers: Object.fromEntries(entries), ...limits }),
  );
}

const mostVariables = 64;

/** The problem of a process's environment; null for a valid one. */
export function envProblem(env: Readonly<Record<string, string>>): string | null {
  const names = Object.keys(env);
  if (names.length > mostVariables) return `must have at most ${mostVariables} entries`;
  const odd = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (odd !== undefined) return "A name must be letters, digits and underscores, and not begin with a digit";
  return shortCredential(env);
}

const credentialName = /key|token|secret|passw|pwd|auth|cookie|credential|session/i;

/** The problem of a credential that is too short to be scrubbed from texts; null when it is long enough. */
function shortCredential(values: Readonly<Record<string, string>>): string | null {
  for (const [name, value] of Object.entries(values)) {
    if (!credentialName.test(name) || value === "" || isMask(value)) continue;
    // After a scheme such as `Bearer`, only the rest is a secret.
    const problem = shortSecretProblem(value.replace(/^[A-Za-z][\w-]* +(?=\S)/, ""));
    if (problem !== null) return `The value of ${name} ${problem}`;
  }
  return null;
}

function messageOf(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "is not valid";
  }
}

/** Headers that never contain a secret. */
const harmlessHeaders: ReadonlySet<string> = new Set(["accept-language", "user-agent"]);
const secretParameter = /key|token|secret|passw|auth|sig/i;

/** Variables that contain settings, never secrets. */
const plainVariables: ReadonlySet<string> = new Set([
  ...["NODE_ENV", "APP_ENV", "ENVIRONMENT", "LOG_LEVEL", "DEBUG", "PATH", "HOME", "HOST", "PORT"],
  ...["LANG", "LC_ALL", "TZ", "AWS_REGION", "AWS_DEFAULT_REGION"],
]);

/** The values of a transport that no model, log or response may show. */
export function transportSecrets(transport: McpTransport): string[] {
  if (transport.type === "http") return httpSecrets(transport);
  return Object.entries(transport.env).flatMap(([name, value]) => (plainVariables.has(name) ? [] : [value]));
}

/** Words of JSON Schema that are long enough to be taken for a secret; scrubbing them would make every schema invalid. */
const schemaWords: ReadonlySet<string> = new Set([
  ...["object", "string", "number", "integer", "boolean"],
  ...["properties", "required", "description", "default"],
]);

/** A transport's secrets without words of JSON Schema, so that scrubbing them leaves a listing's schemas valid. */
export function listingSecrets(transport: McpTransport): string[] {
  const isSchemaWord = (line: string) => schemaWords.has(line.toLowerCase());
  return transportSecrets(transport).flatMap((value) => {
    const lines = secretLines(value);
    return lines.some(isSchemaWord) ? lines.filter((line) => !isSchemaWord(line)) : [value];
  });
}

function httpSecrets({ url, headers }: Extract<McpTransport, { type: "http" }>): string[] {
  const secret = Object.entries(headers).filter(([name]) => !harmlessHeaders.has(name.toLowerCase()));
  const parameters = [...new URL(url).searchParams].flatMap(([name, value]) => {
    // A parameter without a value: the server gets only its name, so the name may be the secret.
    const [said, known] = value === "" ? [name, false] : [value, secretParameter.test(name)];
    return known || said.length >= longValue ? [said] : [];
  });
  const segments = new URL(url).pathname.split("/").filter(isSecretSegment);
  const plain = segments.filter((segment) => messageOf(() => decodeURIComponent(segment)) === null);
  return [
    ...secret.flatMap(([, value]) => [value, ...credentialsIn(value.trim())]),
    ...parameters,
    ...new Set([...segments, ...plain.map(decodeURIComponent)]),
  ];
}

/** The credential after a scheme such as `Bearer`; for `Basic`, user and password too. */
function credentialsIn(value: string): string[] {
  const [, scheme = "", credential = ""] = /^([A-Za-z][\w-]*) +(\S.*)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== "basic") return [credential];
  const opened = messageOf(() => atob(credential)) === null ? atob(credential) : "";
  return [credential, opened, opened.slice(opened.indexOf(":") + 1)];
}
