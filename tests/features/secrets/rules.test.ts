import { describe, expect, it } from "vitest";
import { newToken } from "../../../src/core/credentials/tokens.ts";
import { authKeyProblem, secretProblem, wellKnown } from "../../../src/features/secrets/rules.ts";

describe("the agent's API key", () => {
  it.each([
    "sixteen-letters!",
    "sk-agent-abcdefgh",
    "a.b_c~d+e/f==gh.i",
    "!\"#$%&'()*+,-./:;<",
  ])("may be %s", (value) => {
    expect(authKeyProblem(value)).toBeNull();
  });

  it.each([
    " ",
    "\t\n",
    "k",
    "fifteen-letters",
    "with space",
    "trailing ",
    "ümlaut",
    "a\0b",
    "a\nb",
    "aek_abc",
    "aes_abc",
  ])("may not be %j", (value) => {
    expect(authKeyProblem(value)).not.toBeNull();
  });

  it("may be none of our own tokens", async () => {
    for (const kind of ["session", "management", "personal", "impersonation"] as const) {
      expect(authKeyProblem((await newToken(kind)).token)).toMatch(/must not begin like/);
    }
  });
});

describe("other values", () => {
  it("may be anything, where nothing is known of them", () => {
    expect(secretProblem("my_own", " any thing ")).toBeNull();
    expect(secretProblem("openai_api_key", "aek_looks-like-ours")).toBeNull();
  });

  it("must be addresses where an address is stored", () => {
    expect(secretProblem("openai_base_url", "https://example.com/v1")).toBeNull();
    expect(secretProblem("ollama_base_url", "http://127.0.0.1:11434")).toBeNull();
    expect(secretProblem("openai_base_url", "example.com")).toBe("must be an http or https address");
    expect(secretProblem("openai_base_url", "file:///etc/passwd")).toBe("must be an http or https address");
    expect(secretProblem("openai_base_url", "")).toBeNull();
    expect(secretProblem("openai_base_url", "https://example.com/v1/chat/completions/")).toBe(
      "must end before /chat/completions, which is added to it",
    );
    for (const call of ["/embeddings", "/Chat/Completions"]) {
      const problem = `must end before ${call}, which is added to it`;
      expect(secretProblem("openai_base_url", `https://example.com/v1${call}`)).toBe(problem);
    }
    expect(secretProblem("openai_base_url", "https://example.com/v1?")).toBe("must end with its path, without ? and #");
    expect(secretProblem("openai_base_url", "https://me:pass@example.com/v1")).toBe("must hold no password");
  });

  it("must be names and keys of S3 where those are stored", () => {
    const secrets = {
      s3_region: {
        good: ["eu-central-1", "us-gov-west-1", "auto"],
        bad: ["eu.evil.example/", "EU", "-", "a".repeat(33)],
      },
      s3_bucket: { good: ["acme-files", "files.acme.example"], bad: ["ab", "a/b", "x..y", "Acme", "evil.example#"] },
      s3_access_key_id: {
        good: ["AKIAIOSFODNN7EXAMPLE", "minio-admin"],
        bad: ["AK IA", "AKIA/x", "AKIA\r\nX: y", "é"],
      },
      s3_secret_access_key: { good: ["wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"], bad: ["with space", "line\n"] },
    };
    for (const [key, { good, bad }] of Object.entries(secrets)) {
      expect(good.map((value) => secretProblem(key, value))).toEqual(good.map(() => null));
      expect(bad.filter((value) => secretProblem(key, value) === null)).toEqual([]);
    }
  });
});

it("knows these keys of every agent", () => {
  expect(wellKnown).toEqual([
    "auth_api_key",
    "tracing_api_key",
    "openai_api_key",
    "anthropic_api_key",
    "google_api_key",
    "mistral_api_key",
    "openai_compatible_api_key",
    "openai_base_url",
    "anthropic_base_url",
    "google_base_url",
    "mistral_base_url",
    "ollama_base_url",
    "openai_compatible_base_url",
    "s3_region",
    "s3_bucket",
    "s3_access_key_id",
    "s3_secret_access_key",
  ]);
});
