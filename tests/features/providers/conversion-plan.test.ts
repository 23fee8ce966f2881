import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answerer, type KnownConnection, type ModelFacts, unconfigured } from "../../../src/core/models/facts.ts";
import {
  apiKeySecret,
  baseUrlSecret,
  isProviderName,
  type ProviderName,
  providerNames,
} from "../../../src/core/models/providers.ts";
import { resolveModel } from "../../../src/core/models/resolve.ts";
import { freeName, planBindings } from "../../../src/features/providers/convert/plan.ts";

const remote = providerNames.filter((name) => name !== "demo");
const settings = remote.flatMap((name) => [apiKeySecret(name), baseUrlSecret(name)]);
const roles = ["chat", "fast", "embedding"] as const;

/** The address and key of a model: those of its connection, else as agents' secrets and the environment give them. */
function credentials(
  { provider, connection }: Answerer,
  { secrets, environment }: ModelFacts,
  converted: ReadonlyMap<string, ProviderName>,
) {
  if (!isProviderName(provider)) throw new Error("No connection of speech was made");
  const [key, address] = [apiKeySecret(provider), baseUrlSecret(provider)];
  const own = (name: string) => (secrets.has(name) ? `own ${name}` : undefined);
  const common = (name: string) => (environment.has(name) ? `common ${name}` : undefined);
  const isConverted = connection !== null && converted.has(connection.id);
  if (isConverted) {
    return {
      address: connection.hasAddress ? connection.name : undefined,
      key: connection.hasKey ? `own ${key}` : undefined,
    };
  }
  if (own(address)) return { address: own(address), key: own(key) };
  return { address: common(address), key: own(key) ?? common(key) };
}

/** Turns the secrets of every provider into connections, one after the other, as the conversion does. */
function convert(facts: ModelFacts, secrets: ReadonlySet<string>) {
  const converted = new Map<string, ProviderName>();
  let now = facts;
  for (const provider of remote) {
    const [key, address] = [apiKeySecret(provider), baseUrlSecret(provider)];
    if (!secrets.has(key) && !secrets.has(address)) continue;
    const at = secrets.has(address) ? `own ${address}` : facts.environment.has(address) ? `common ${address}` : null;
    const connection: KnownConnection & { provider: ProviderName } = {
      id: `${provider}-connection`,
      name: at ?? "",
      provider,
      hasKey: secrets.has(key),
      hasAddress: at !== null,
      ...{ enabled: true, shared: false, isDefault: false },
    };
    const bindings = { ...now.bindings };
    for (const { role, model } of planBindings(now, connection)) {
      bindings[role] = { connectionId: connection.id, model, fallbacks: [] };
    }
    const left = new Set(settings.filter((one) => now.secrets.has(one) && one !== key && one !== address));
    now = { ...now, secrets: left, connections: [...now.connections, connection], bindings };
    converted.set(connection.id, provider);
  }
  return { now, converted };
}

test("the same model with the same key and address answers for every role after the conversion", () => {
  const names = fc.constantFrom(...remote);
  const some = fc.uniqueArray(fc.constantFrom(...settings), { maxLength: 5 }).map((list) => new Set(list));
  const model = fc.option(fc.constantFrom("m", "gpt-5-mini"));
  const own = fc.record({
    provider: fc.option(names),
    model,
    fastModel: fc.option(
      fc.oneof(
        fc.constant("f"),
        names.map((name) => `${name}:f`),
      ),
    ),
  });
  const defaultModel = fc.option(names.map((name) => `${name}:preset`));
  fc.assert(
    fc.property(some, some, own, defaultModel, (secrets, environment, ofAgent, preset) => {
      const facts: ModelFacts = { ...unconfigured, own: ofAgent, secrets, environment, defaultModel: preset };
      const { now, converted } = convert(facts, secrets);
      for (const role of roles) {
        const [before, after] = [resolveModel(role, facts).wanted, resolveModel(role, now).wanted];
        const told = (one: Answerer | null, from: ModelFacts) =>
          one && [one.provider, one.model, credentials(one, from, converted)];
        expect([role, told(after, now)]).toEqual([role, told(before, facts)]);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("a bound role stays as it is, and a workspace that admits no private connections gets no binding", () => {
  const connection = { id: "new", name: "openai", provider: "openai" as const, hasKey: true, hasAddress: false };
  const made = { ...connection, enabled: true, shared: false, isDefault: false };
  const facts = { ...unconfigured, secrets: new Set(["openai_api_key"]) };
  expect(planBindings(facts, made)).toEqual([
    { role: "chat", model: null },
    { role: "embedding", model: null },
  ]);
  const bindings = { chat: { connectionId: "other", model: null, fallbacks: [] } };
  expect(planBindings({ ...facts, bindings }, made)).toEqual([]);
  expect(planBindings({ ...facts, admission: { admitted: null, privateConnections: false } }, made)).toEqual([]);
});

test("a connection is named after its provider", () => {
  expect(freeName("openai", new Set())).toBe("openai");
  expect(freeName("openai", new Set(["openai", "openai 2"]))).toBe("openai 3");
});
