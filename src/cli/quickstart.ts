import { localAddress } from "../core/addresses.ts";
import { type Environment, settings } from "../core/config.ts";
import { randomToken } from "../core/ids.ts";
import { isProviderName, providerNames, splitModel, variableOf } from "../core/models/providers.ts";
import type { Quickstart, QuickstartRequest } from "../engine.ts";
import type { RunningServer } from "../main.ts";
import { type Flags, textFlag, UsageError } from "./arguments.ts";
import { commandName } from "./command-name.ts";

export interface QuickstartOptions extends QuickstartRequest {
  /** Whether the password was generated, so that it must be shown. */
  generated: boolean;
  /** The commands with which to run the quickstart again, for example with `--new-key`, and to chat. */
  again: string;
  chat: string;
}

/** Reads the options from the flags, then the environment, then defaults. Throws `UsageError`. */
export function readQuickstart(flags: Flags, environment: Environment): QuickstartOptions {
  const { OWNER_EMAIL, OWNER_PASSWORD } = settings.shape;
  const password = checkFlag("password", OWNER_PASSWORD, flags) ?? (environment.OWNER_PASSWORD || undefined);
  const email = checkFlag("email", OWNER_EMAIL, flags) ?? (environment.OWNER_EMAIL || "owner@example.com");
  const model = readModel(flags);
  const name = commandName(environment);
  return {
    email,
    password: password ?? randomToken(12),
    generated: password === undefined,
    slug: textFlag(flags, "slug") ?? "assistant",
    ...(model === undefined ? {} : { model }),
    newKey: flags["new-key"] === true,
    again: environment.npm_lifecycle_event === "quickstart" ? "npm run quickstart --" : `${name} quickstart`,
    chat: `${name} chat`,
  };
}

/**
 * Reads the model, which must include its provider: otherwise any provider with a key might get it. Throws a `UsageError`.
 */
function readModel(flags: Flags): string | undefined {
  const value = textFlag(flags, "model");
  if (value === undefined) return undefined;
  const { provider, model } = splitModel(value);
  if (provider === null || model === "") {
    const meant = isProviderName(value.replace(/:$/, "")) ? "its model" : `one of ${providerNames.join(", ")}`;
    throw new UsageError(`--model ${value} is not provider:model, such as openai:gpt-5-mini: name ${meant}`);
  }
  if (provider === "demo" && model !== "demo") throw new UsageError("--model demo:demo is the only model of demo");
  return value;
}

type Rule = typeof settings.shape.OWNER_EMAIL | typeof settings.shape.OWNER_PASSWORD;

/** The value of a flag, checked by the same rule as its environment variable. */
function checkFlag(name: string, rule: Rule, flags: Flags): string | undefined {
  const checked = rule.safeParse(textFlag(flags, name));
  if (!checked.success) throw new UsageError(`--${name} ${checked.error.issues[0]?.message}`);
  return checked.data;
}

/** Creates owner, agent and key on a running server. Returns the text to show. */
export async function quickstart(
  { engine, address }: Pick<RunningServer, "engine" | "address">,
  { generated, again, chat, panel, ...request }: QuickstartOptions & { panel: boolean },
): Promise<string> {
  const made = await engine.quickstart(request);
  const password = generated ? `${request.password}   (shown only now)` : "as you set it";
  const owner = made.ownerCreated
    ? [row("Owner", request.email), row("Password", password)]
    : [row("Owner", "made before; e-mail and password stay as they are")];
  const key = made.key === null ? `shown when it was made; ${again} --new-key sets a new one` : made.key;
  return [
    "",
    row("Address", panel ? `${address}   (open it in a browser to sign in)` : address),
    ...owner,
    row("Agent", made.slug),
    row("Model", modelText(made)),
    ...(made.fastModel === null ? [] : [row("Fast", `${made.fastModel}, for titles and memories in the background`)]),
    row("Key", made.key === null ? key : `${key}   (shown only now)`),
    "",
    ...firstCall(made, address),
    "",
    `  Or chat in the terminal: ${chat} ${made.slug}${address === usualAddress ? "" : ` --url=${address}`}`,
    "",
    ...modelNote(made, again),
    "  Ctrl+C stops the server.",
    "",
    "",
  ].join("\n");
}

/** The default server of `chat`. */
const usualAddress = localAddress(settings.shape.HOST.parse(undefined), settings.shape.PORT.parse(undefined));

const row = (label: string, text: string) => `  ${label.padEnd(9)} ${text}`;

function modelText({ provider, model }: Quickstart): string {
  return provider === "demo" ? "demo:demo, built in: it echoes and is no language model" : `${provider}:${model}`;
}

/** The lines that README shows too, so that its next steps work in the same terminal. */
function firstCall({ slug, key }: Quickstart, address: string): string[] {
  const body = JSON.stringify({ model: slug, messages: [{ role: "user", content: "Hello" }] });
  return [
    key === null ? "  With the key in AGENT_API_KEY, in another terminal:" : "  Say hello, in another terminal:",
    "",
    ...(key === null ? [] : [`  export AGENT_API_KEY=${key}`]),
    `  curl ${address}/v1/chat/completions \\`,
    '    -H "Authorization: Bearer $AGENT_API_KEY" \\',
    '    -H "Content-Type: application/json" \\',
    `    -d '${body}'`,
  ];
}

/** Explains why the agent has no working language model; empty when it has one. */
function modelNote({ slug, provider, missing }: Quickstart, again: string): string[] {
  if (missing !== null) {
    const variable = variableOf(missing);
    return [
      `  ${provider} can't answer yet: start again with ${variable} set, or store the agent's secret ${missing}`,
      `  (PUT /api/instances/${slug}/secrets).`,
      "",
    ];
  }
  if (provider !== "demo") return [];
  return [
    "  For a language model, stop, and start again with a provider's key (OPENAI_API_KEY, for example), or name a",
    "  model and where it is served:",
    `  OLLAMA_BASE_URL=http://localhost:11434 ${again} --model=ollama:qwen3:8b`,
    "",
  ];
}
