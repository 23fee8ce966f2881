import { describe, expect, test } from "vitest";
import { type Binding, type KnownConnection, type ModelFacts, unconfigured } from "../../../src/core/models/facts.ts";
import { resolveModel } from "../../../src/core/models/resolve.ts";
import type { ProviderRole } from "../../../src/core/models/roles.ts";

const connection = (id: string, fields: Partial<KnownConnection> = {}): KnownConnection => ({
  id,
  name: id,
  provider: "openai",
  hasKey: true,
  hasAddress: false,
  enabled: true,
  shared: true,
  isDefault: false,
  ...fields,
});

const shared = connection("shared", { isDefault: true });
const claude = connection("claude", { provider: "anthropic" });
const own = connection("own", { provider: "mistral", shared: false });
const off = connection("off", { enabled: false });
const keyless = connection("keyless", { hasKey: false });
const ollama = connection("ollama", { provider: "ollama", hasKey: false, hasAddress: true });
const deepgram = connection("deepgram", { provider: "deepgram" });
const connections = [claude, own, off, keyless, ollama, deepgram];
const all = [...connections, shared];

const bind = (connectionId: string, model: string | null = null, ...fallbacks: string[]): Binding => ({
  connectionId,
  model,
  fallbacks: fallbacks.map((id) => ({ connectionId: id, model: null })),
});

const openAiKey = new Set(["openai_api_key"]);
const admitting = (...names: [KnownConnection["provider"], (readonly string[] | null)?][]) => ({
  admitted: names.map(([provider, models = null]) => ({ provider, models })),
  privateConnections: true,
});
const nothingPrivate = { admitted: null, privateConnections: false };

/** `connection:model` or `provider:model` of each that may answer, the source, and why the wanted one may not. */
function outcome(role: ProviderRole, facts: Partial<ModelFacts>, named?: string) {
  const { answerers, source, reason } = resolveModel(role, { ...unconfigured, ...facts }, named);
  const shown = answerers.map((one) => `${one.connection?.id ?? `${one.provider}`}:${one.model}`).join(" ");
  return [shown, source, reason];
}

const ofAgent = (fields: Partial<ModelFacts["own"]>) => ({ own: { ...unconfigured.own, ...fields } });

type Row = [string, Partial<ModelFacts>, [string, string, string | null], named?: string];

describe("chat", () => {
  test.each<Row>([
    // Without connections.
    ["nothing at all", {}, ["demo:demo", "none", null]],
    ["a key of the environment", { environment: openAiKey }, ["openai:gpt-5-mini", "environment", null]],
    ["a key of the agent's own", { secrets: openAiKey }, ["openai:gpt-5-mini", "environment", null]],
    ["an address alone", { environment: new Set(["ollama_base_url"]) }, ["demo:demo", "none", null]],
    [
      "the first provider of two",
      { environment: new Set(["mistral_api_key", "google_api_key"]) },
      ["google:gemini-3.8-flash", "environment", null],
    ],
    ["the policy", { environment: openAiKey, defaultModel: "mistral:m" }, ["mistral:m", "environment", null]],
    ["a model alone", { environment: openAiKey, ...ofAgent({ model: "m" }) }, ["openai:m", "environment", null]],
    [
      "a model beside the policy",
      { defaultModel: "mistral:m", ...ofAgent({ model: "n" }) },
      ["mistral:n", "environment", null],
    ],
    [
      "a provider without a key",
      ofAgent({ provider: "anthropic" }),
      ["anthropic:claude-sonnet-5-5", "environment", null],
    ],
    [
      "another provider than the policy's",
      { defaultModel: "openai:m", ...ofAgent({ provider: "mistral" }) },
      ["mistral:mistral-medium-latest", "environment", null],
    ],
    ["a server without a usual model", ofAgent({ provider: "ollama" }), ["ollama:default", "environment", null]],
    ["demo by name", { environment: openAiKey, ...ofAgent({ provider: "demo" }) }, ["demo:demo", "none", null]],
    // Bound connections.
    [
      "a bound one before all else",
      {
        connections: all,
        bindings: { chat: bind("claude") },
        secrets: openAiKey,
        environment: openAiKey,
        defaultModel: "openai:m",
      },
      ["claude:claude-sonnet-5-5", "bound", null],
    ],
    ["its own model", { connections: all, bindings: { chat: bind("claude", "m") } }, ["claude:m", "bound", null]],
    [
      "the agent's model for its provider",
      { connections: all, bindings: { chat: bind("claude") }, ...ofAgent({ provider: "anthropic", model: "m" }) },
      ["claude:m", "bound", null],
    ],
    [
      "not the model of another provider",
      { connections: all, bindings: { chat: bind("claude") }, ...ofAgent({ provider: "openai", model: "m" }) },
      ["claude:claude-sonnet-5-5", "bound", null],
    ],
    [
      "its fallbacks in their order",
      { connections: all, bindings: { chat: bind("claude", null, "own", "shared") } },
      ["claude:claude-sonnet-5-5 own:mistral-medium-latest shared:gpt-5-mini", "bound", null],
    ],
    [
      "the model of an agent without a provider at the first connection's provider alone",
      { connections: all, bindings: { chat: bind("shared", null, "claude", "shared") }, ...ofAgent({ model: "m" }) },
      ["shared:m claude:claude-sonnet-5-5 shared:m", "bound", null],
    ],
    [
      "the usable ones of them",
      { connections: all, bindings: { chat: bind("off", null, "keyless", "ollama") } },
      ["ollama:default", "bound", null],
    ],
    [
      "a bound one of the built-in model that is off",
      { connections: [{ ...off, provider: "demo" }], bindings: { chat: bind("off") } },
      ["", "bound", "disabled"],
    ],
    [
      "a bound one that is off",
      { connections: all, bindings: { chat: bind("off") }, environment: openAiKey },
      ["", "bound", "disabled"],
    ],
    [
      "a bound one without a key",
      { connections: all, bindings: { chat: bind("keyless") }, environment: openAiKey },
      ["", "bound", "no-key"],
    ],
    [
      "a bound one whose provider is not admitted",
      { connections: all, bindings: { chat: bind("claude") }, admission: admitting(["openai"]) },
      ["", "bound", "not-admitted"],
    ],
    [
      "a bound one whose model is not admitted",
      { connections: all, bindings: { chat: bind("claude", "m") }, admission: admitting(["anthropic", ["n"]]) },
      ["", "bound", "not-admitted"],
    ],
    [
      "a bound one whose model is admitted",
      { connections: all, bindings: { chat: bind("claude", "m") }, admission: admitting(["anthropic", ["m"]]) },
      ["claude:m", "bound", null],
    ],
    [
      "a private one where none is admitted",
      { connections: all, bindings: { chat: bind("own") }, admission: nothingPrivate },
      ["", "bound", "not-admitted"],
    ],
    [
      "the reason of the bound one, not of a fallback",
      { connections: all, bindings: { chat: bind("off", null, "keyless") } },
      ["", "bound", "disabled"],
    ],
    // The default connection.
    ["the default one", { connections: all }, ["shared:gpt-5-mini", "default", null]],
    [
      "the default one before the environment",
      { connections: all, environment: openAiKey, defaultModel: "mistral:m" },
      ["shared:gpt-5-mini", "default", null],
    ],
    [
      "the policy's model at its provider",
      { connections: all, defaultModel: "openai:m" },
      ["shared:m", "default", null],
    ],
    [
      "the agent's own secrets before the default one",
      { connections: all, secrets: new Set(["mistral_api_key"]), ...ofAgent({ provider: "mistral" }) },
      ["mistral:mistral-medium-latest", "environment", null],
    ],
    [
      "the default one where own secrets count as private",
      { connections: all, secrets: openAiKey, admission: nothingPrivate },
      ["shared:gpt-5-mini", "default", null],
    ],
    [
      "another provider of the agent",
      { connections: all, ...ofAgent({ provider: "mistral", model: "m" }) },
      ["mistral:m", "environment", null],
    ],
    [
      "a default one that is off",
      { connections: [{ ...off, isDefault: true }], environment: openAiKey },
      ["openai:gpt-5-mini", "environment", null],
    ],
    ["a default one without a key", { connections: [{ ...keyless, isDefault: true }] }, ["demo:demo", "none", null]],
    [
      "a default one that is not admitted",
      { connections: all, admission: admitting(["mistral"]), environment: new Set(["mistral_api_key"]) },
      ["mistral:mistral-medium-latest", "environment", null],
    ],
    ["a default one of speech alone", { connections: [{ ...deepgram, isDefault: true }] }, ["demo:demo", "none", null]],
    // The environment under admission.
    [
      "the first admitted provider with a key",
      { environment: new Set(["openai_api_key", "google_api_key"]), admission: admitting(["google"]) },
      ["google:gemini-3.8-flash", "environment", null],
    ],
    [
      "a provider by name that is not admitted",
      { environment: openAiKey, admission: admitting(["google"]), ...ofAgent({ provider: "openai" }) },
      ["", "environment", "not-admitted"],
    ],
    [
      "a policy that is not admitted",
      { environment: openAiKey, admission: admitting(["google"]), defaultModel: "openai:m" },
      ["", "environment", "not-admitted"],
    ],
    ["an empty list", { environment: openAiKey, admission: admitting() }, ["demo:demo", "none", null]],
    [
      "an empty list of models",
      { environment: openAiKey, admission: admitting(["openai", []]), ...ofAgent({ provider: "openai" }) },
      ["", "environment", "not-admitted"],
    ],
    [
      "the built-in model under any admission",
      { admission: admitting(), ...ofAgent({ provider: "demo" }) },
      ["demo:demo", "none", null],
    ],
  ])("%s", (_name, facts, expected) => {
    expect(outcome("chat", facts)).toEqual(expected);
  });
});

describe("a model by its name", () => {
  test.each<Row>([
    ["of the agent's provider", { environment: openAiKey }, ["openai:m", "environment", null], "m"],
    ["of another provider", { environment: openAiKey }, ["mistral:m", "environment", null], "mistral:m"],
    ["with a colon in it", ofAgent({ provider: "ollama" }), ["ollama:qwen3:8b", "environment", null], "qwen3:8b"],
    [
      "of the bound connection's provider",
      { connections: all, bindings: { chat: bind("claude") } },
      ["claude:m", "bound", null],
      "m",
    ],
    [
      "of a fallback's provider",
      { connections: all, bindings: { chat: bind("claude", null, "own") } },
      ["own:m", "bound", null],
      "mistral:m",
    ],
    [
      "of a fallback that is off, which neither the default connection nor the environment replaces",
      { connections: all, bindings: { chat: bind("claude", null, "off") }, environment: openAiKey },
      ["", "bound", "disabled"],
      "openai:m",
    ],
    [
      "of the provider of a bound connection that is off",
      { connections: all, bindings: { chat: bind("off") }, environment: openAiKey },
      ["", "bound", "disabled"],
      "openai:m",
    ],
    [
      "at a fallback, for a bound connection that is off",
      { connections: all, bindings: { chat: bind("off", null, "shared") }, environment: openAiKey },
      ["shared:m", "bound", null],
      "m",
    ],
    [
      "of a provider that is only in the environment",
      { connections: all, bindings: { chat: bind("claude") }, environment: new Set(["google_api_key"]) },
      ["google:m", "environment", null],
      "google:m",
    ],
    ["of the default connection", { connections: all }, ["shared:m", "default", null], "m"],
    ["of the agent's own secrets", { connections: all, secrets: openAiKey }, ["openai:m", "environment", null], "m"],
    [
      "that is not admitted",
      { environment: openAiKey, admission: admitting(["openai", ["n"]]) },
      ["", "environment", "not-admitted"],
      "openai:m",
    ],
    [
      "at the default one, where only another model is admitted",
      { connections: all, admission: admitting(["openai", ["n"]]) },
      ["", "environment", "not-admitted"],
      "openai:m",
    ],
    ["of the built-in model", { connections: all, admission: admitting() }, ["demo:m", "none", null], "demo:m"],
  ])("%s", (_name, facts, expected, named) => {
    expect(outcome("chat", facts, named)).toEqual(expected);
  });
});

describe("fast", () => {
  test.each<Row>([
    ["nothing without the owner's wish", { connections: all, environment: openAiKey }, ["", "none", null]],
    ["the agent's own", { environment: openAiKey, ...ofAgent({ fastModel: "m" }) }, ["openai:m", "environment", null]],
    [
      "of another provider",
      { environment: openAiKey, ...ofAgent({ fastModel: "mistral:m" }) },
      ["mistral:m", "environment", null],
    ],
    [
      "the agent's own at the default connection",
      { connections: all, ...ofAgent({ fastModel: "m" }) },
      ["shared:m", "default", null],
    ],
    [
      "a bound one before it",
      { connections: all, bindings: { fast: bind("claude") }, ...ofAgent({ fastModel: "m" }) },
      ["claude:claude-haiku-5-5", "bound", null],
    ],
    [
      "a bound server without a usual one",
      { connections: all, bindings: { fast: bind("ollama") } },
      ["ollama:default", "bound", null],
    ],
    [
      "a bound one that is off",
      { connections: all, bindings: { fast: bind("off") }, ...ofAgent({ fastModel: "m" }) },
      ["", "bound", "disabled"],
    ],
    [
      "the agent's own, of a bound connection that is off",
      {
        connections: all,
        bindings: { chat: bind("off") },
        environment: openAiKey,
        ...ofAgent({ fastModel: "openai:m" }),
      },
      ["", "bound", "disabled"],
    ],
    [
      "one that is not admitted",
      {
        environment: openAiKey,
        admission: admitting(["openai", ["n"]]),
        ...ofAgent({ provider: "openai", fastModel: "m" }),
      },
      ["", "environment", "not-admitted"],
    ],
  ])("%s", (_name, facts, expected) => {
    expect(outcome("fast", facts)).toEqual(expected);
  });
});

describe("embedding", () => {
  const embedder = "text-embedding-3-small";
  test.each<Row>([
    ["none of the built-in model", {}, ["", "none", null]],
    ["of the chat's provider", { environment: openAiKey }, [`openai:${embedder}`, "environment", null]],
    ["none of a provider without one", ofAgent({ provider: "anthropic" }), ["", "none", null]],
    [
      "none at an address of the agent's own",
      { secrets: new Set(["openai_api_key", "openai_base_url"]) },
      ["", "none", null],
    ],
    [
      "none at an address of the environment",
      { environment: new Set(["openai_api_key", "openai_base_url"]) },
      ["", "none", null],
    ],
    ["of the default connection", { connections: all }, [`shared:${embedder}`, "default", null]],
    [
      "none of a default connection with an address",
      { connections: [{ ...shared, hasAddress: true }] },
      ["", "none", null],
    ],
    [
      "none of the environment while the chat goes to an address of its own",
      { connections: [{ ...shared, hasAddress: true }], environment: openAiKey },
      ["", "none", null],
    ],
    [
      "never of another provider than the chat's",
      { connections: all, bindings: { chat: bind("claude") }, environment: openAiKey },
      ["", "none", null],
    ],
    ["none while no model answers", { connections: all, bindings: { chat: bind("off") } }, ["", "none", null]],
    ["a bound one", { connections: all, bindings: { embedding: bind("own") } }, ["own:mistral-embed", "bound", null]],
    ["a bound server", { connections: all, bindings: { embedding: bind("ollama", "m") } }, ["ollama:m", "bound", null]],
    [
      "one that is not admitted",
      { environment: openAiKey, admission: admitting(["openai", ["gpt-5-mini"]]) },
      ["", "environment", "not-admitted"],
    ],
  ])("%s", (_name, facts, expected) => {
    expect(outcome("embedding", facts)).toEqual(expected);
  });
});

test.each(["transcription", "speech"] as const)("%s is of a bound connection with a named model alone", (role) => {
  expect(outcome(role, { connections: all, environment: openAiKey })).toEqual(["", "none", null]);
  const bindings = { [role]: bind("deepgram", "m") };
  expect(outcome(role, { connections: all, bindings })).toEqual(["deepgram:m", "bound", null]);
  const admission = admitting(["google"]);
  expect(outcome(role, { connections: all, bindings, admission })).toEqual(["", "bound", "not-admitted"]);
});
