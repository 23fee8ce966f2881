import { describe, expect, test } from "vitest";
import { ConfigError, environmentKeys, parseSettings, retiredSettings } from "../../src/core/config.ts";
import { editionOf } from "../../src/core/edition.ts";

const key = Buffer.alloc(32, 7);

function problems(environment: Record<string, string>): readonly string[] {
  try {
    parseSettings(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("settings", () => {
  test("an empty environment, or one of empty variables, gives the defaults", () => {
    const defaults = parseSettings({});
    expect(defaults).toMatchObject({ PORT: 4000, HOST: "127.0.0.1", DATA_DIR: "./.agent-engine", TRUST_PROXY: 0 });
    expect(defaults.DATABASE_URL).toBeUndefined();
    expect(parseSettings({ PORT: "", DATABASE_URL: "", OWNER_EMAIL: "" })).toEqual(defaults);
  });

  test("the managed edition has the features of the list, by default all; the open one has none", () => {
    const featuresOf = (environment: Record<string, string>) => editionOf(parseSettings(environment)).features;
    const all = ["administration", "providers", "knowledge", "governance", "channels"];
    expect(featuresOf({ EDITION: "managed" })).toEqual(all);
    expect(featuresOf({ EDITION: "managed", FEATURES: "knowledge, all" })).toEqual(all);
    expect(featuresOf({ EDITION: "managed", FEATURES: " channels,administration ," })).toEqual([
      "administration",
      "channels",
    ]);
    expect(featuresOf({})).toEqual([]);
    expect(featuresOf({ EDITION: "open", FEATURES: "all" })).toEqual([]);
    expect(problems({ EDITION: "Managed" })).toEqual(["EDITION must be open or managed"]);
  });

  test("a feature that does not exist is refused in both editions", () => {
    const sentence = (name: string) =>
      `FEATURES ${name} is no feature: administration, providers, knowledge, governance, channels`;
    expect(problems({ EDITION: "managed", FEATURES: "nonsense,channels,All" })).toEqual([
      sentence("nonsense"),
      sentence("All"),
    ]);
    expect(problems({ FEATURES: "all,nonsense" })).toEqual([sentence("nonsense")]);
  });

  test("addresses of providers to which no path can be added are refused, without what they hold", () => {
    expect(
      problems({
        OPENAI_BASE_URL: "https://models.example/v1/chat/completions",
        GOOGLE_GEMINI_BASE_URL: "https://models.example?key=hunter22",
        ANTHROPIC_BASE_URL: "models.example",
        OLLAMA_BASE_URL: "http://gpu:11434/v1/",
        MISTRAL_BASE_URL: "  ",
      }),
    ).toEqual([
      "OPENAI_BASE_URL must end before /chat/completions, which is added to it",
      "ANTHROPIC_BASE_URL must be an http or https address",
      "GOOGLE_GEMINI_BASE_URL must end with its path, without ? and #",
    ]);
  });

  test("every problem is listed at once, with the variable's name", () => {
    const list = problems({
      PORT: "65536",
      TRUST_PROXY: "one",
      BASE_URL: "ftp://here",
      DATABASE_URL: "mysql://db/app",
      ENCRYPTION_KEY: "short",
      OWNER_EMAIL: "nobody",
      LOG_LEVEL: "loud",
    });
    expect(list.map((problem) => problem.split(" ")[0]).sort()).toEqual([
      "BASE_URL",
      "DATABASE_URL",
      "ENCRYPTION_KEY",
      "LOG_LEVEL",
      "OWNER_EMAIL",
      "PORT",
      "TRUST_PROXY",
    ]);
    expect(list.join("\n")).not.toContain("short");
  });

  test.each([
    ["base64", key.toString("base64")],
    ["hexadecimal", key.toString("hex")],
  ])("an encryption key of 32 bytes as %s", (_, ENCRYPTION_KEY) => {
    expect(parseSettings({ ENCRYPTION_KEY }).ENCRYPTION_KEY).toEqual(new Uint8Array(key));
  });

  test.each([
    ["31 bytes", Buffer.alloc(31).toString("base64")],
    ["no base64", "!".repeat(44)],
    ["odd hex", "a".repeat(63)],
  ])("an encryption key of %s is refused without being shown", (_, ENCRYPTION_KEY) => {
    expect(problems({ ENCRYPTION_KEY })).toEqual([
      "ENCRYPTION_KEY must be 32 bytes, as base64 or as 64 hexadecimal characters",
    ]);
  });

  test("settings that need each other must be set together", () => {
    expect(problems({ OWNER_EMAIL: "a@example.com" })).toEqual([
      "OWNER_PASSWORD must be set together with OWNER_EMAIL",
    ]);
    expect(problems({ OWNER_PASSWORD: "long enough" })).toEqual([
      "OWNER_EMAIL must be set together with OWNER_PASSWORD",
    ]);
    expect(problems({ DATABASE_URL: "postgres://db/app" })).toEqual([
      "ENCRYPTION_KEY must be set together with DATABASE_URL; make one with: openssl rand -base64 32",
    ]);
  });

  test("a public address loses the slash at its end", () => {
    expect(parseSettings({ BASE_URL: "https://agents.example.com/" }).BASE_URL).toBe("https://agents.example.com");
    for (const wrong of ["https://u:p@agents.example.com", "https://agents.example.com/?a=b", "https://a.example/#b"]) {
      expect(problems({ BASE_URL: wrong })).toEqual(["BASE_URL must have no spaces, password, query or fragment"]);
    }
  });
});

test("retired variables are reported one by one, with their replacements", () => {
  expect(retiredSettings({ PORT: "1", MESSAGE_MAX_RESTARTS: "2", SSE_MAX_CONNECTIONS: "3" }).sort()).toEqual([
    "MESSAGE_MAX_RESTARTS is no longer read: set the installation policy maxRestarts instead",
    "SSE_MAX_CONNECTIONS is no longer read: set the installation policy activityConnections.total instead",
  ]);
});

test("the environment's provider keys go by the names of the agent secrets", () => {
  const keys = environmentKeys({
    OPENAI_API_KEY: "sk",
    OPENAI_BASE_URL: "",
    OLLAMA_BASE_URL: "http://o",
    PATH: "/bin",
  });
  expect([...keys]).toEqual([
    ["openai_api_key", "sk"],
    ["ollama_base_url", "http://o"],
  ]);
});
