import { describe, expect, test } from "vitest";
import { checkPublicAddress, checkServer } from "../../src/cli/doctor/address.ts";
import type { Probe } from "../../src/cli/doctor/probe.ts";
import { checkProviders } from "../../src/cli/doctor/providers.ts";
import { parseSettings } from "../../src/core/config.ts";
import { version } from "../../src/main.ts";

const engine: Probe = { kind: "engine", version, stopping: false };
const nothing = (code: string): Probe => ({ kind: "nothing", code });
const other: Probe = { kind: "other", status: 502 };
const line = ({ status, message }: { status: string; message: string }) => `${status}: ${message}`;

describe("the public address", () => {
  const https = { BASE_URL: "https://tea.example" };
  test.each<[Record<string, string>, Probe | null, boolean, RegExp]>([
    [{}, null, true, /^ok: BASE_URL is not set: http:\/\/localhost:4000, for this machine only$/],
    [{ HOST: "0.0.0.0" }, null, true, /^warn: BASE_URL is not set while HOST is 0\.0\.0\.0: set it/],
    [{ ...https, TRUST_PROXY: "1" }, engine, true, /^ok: https:\/\/tea\.example answers$/],
    [https, engine, true, /^warn: .* TRUST_PROXY is 0/],
    [{ BASE_URL: "http://tea.example" }, engine, true, /^warn: .* unencrypted/],
    [{ BASE_URL: "http://localhost:5" }, engine, true, /^ok: /],
    [https, other, true, /^fail: .* something else \(status 502\)/],
    [https, nothing("ENOTFOUND"), true, /^fail: .* \(ENOTFOUND\) though a server runs here/],
    [https, nothing("TIMEOUT"), true, /^warn: .* from another one$/],
    [https, nothing("ECONNREFUSED"), false, /^warn: .* start the server/],
  ])("%j, %j, a server here: %j", (environment, found, running, expected) => {
    expect(line(checkPublicAddress(parseSettings(environment), found, running))).toMatch(expected);
  });
});

test.each<[Probe, RegExp]>([
  [engine, /^ok: Version \S+ runs at http:\/\/here$/],
  [{ ...engine, version: "0.0.1" }, /^warn: Version 0\.0\.1 runs .* restart it to update$/],
  [{ ...engine, stopping: true }, /^warn: .* stopping$/],
  [nothing("ECONNREFUSED"), /^ok: None runs at http:\/\/here$/],
  [other, /^fail: Something else answers/],
])("the server on this machine: %j", (found, expected) => {
  expect(line(checkServer("http://here", found))).toMatch(expected);
});

test.each<[Record<string, string>, RegExp]>([
  [{}, /^warn: No key in the environment/],
  [
    { ANTHROPIC_API_KEY: "k" },
    /^ok: Configured: anthropic; not configured: openai, google, mistral, openai-compatible$/,
  ],
  [{ OPENAI_BASE_URL: "http://x" }, /^ok: Configured: openai;/],
  [{ OLLAMA_BASE_URL: "http://x" }, /^ok: Configured: ollama;/],
  [{ OPENAI_API_KEY: "k", OPENAI_COMPATIBLE_API_KEY: "k" }, /^warn: openai-compatible lacks its address: /],
  [{ OPENAI_API_KEY: "k", ANTHROPIC_BASE_URL: "http://x" }, /^warn: anthropic lacks its key: /],
])("providers by %j", (environment, expected) => {
  expect(line(checkProviders(environment))).toMatch(expected);
});
