import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { defaultModels, type ProviderName, providerNames } from "../../src/core/models/providers.ts";
import { modelCatalogue } from "../../src/features/agents/models.ts";

const { providers, models } = modelCatalogue(new Map());

const configured = (keys: Record<string, string>) => {
  const found = modelCatalogue(new Map(Object.entries(keys))).providers;
  return Object.keys(found).filter((name) => found[name]?.configured);
};

test("offers all providers, in the order in which a default is chosen", () => {
  expect(Object.keys(providers)).toEqual([...providerNames]);
  expect(new Set(models).size).toBe(models.length);
});

test.each([
  ["openai_api_key", "openai"],
  ["anthropic_api_key", "anthropic"],
  ["google_api_key", "google"],
  ["mistral_api_key", "mistral"],
  ["ollama_base_url", "ollama"],
  ["openai_compatible_base_url", "openai-compatible"],
])("%s alone configures %s", (secret, provider) => {
  expect(configured({ [secret]: "x" })).toEqual([provider, "demo"]);
});

test("an address without a key configures openai, since any chat-completions server may be there, and no provider that needs a key", () => {
  const addresses = ["openai", "anthropic", "google", "mistral"].map((name) => [`${name}_base_url`, "http://x"]);
  expect(configured(Object.fromEntries(addresses))).toEqual(["openai", "demo"]);
});

describe.each(["openai", "anthropic", "google", "mistral"] as const)("%s", (name: ProviderName) => {
  const offered = providers[name]?.models ?? [];

  test("has a model of each tier, and its default among them", () => {
    expect(new Set(offered.map(({ tier }) => tier))).toEqual(
      new Set(name === "google" ? ["fast", "standard", "heavy", null] : ["fast", "standard", "heavy"]),
    );
    expect(offered.map(({ id }) => id)).toContain(defaultModels[name]);
  });

  test("offers only models that its package knows", async () => {
    const types = createRequire(import.meta.url)
      .resolve(`@ai-sdk/${name}`)
      .replace(/\.c?js$/, ".d.ts");
    const known = await readFile(types, "utf8");
    for (const { id } of offered) expect(known).toMatch(new RegExp(`['"]${id.replaceAll(".", "\\.")}['"]`));
  });
});
