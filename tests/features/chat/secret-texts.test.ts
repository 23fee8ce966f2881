import { expect, test } from "vitest";
import { scrubber } from "../../../src/core/scrub/scrub.ts";
import { secretTexts } from "../../../src/features/turns/agent/load.ts";

test("a text that only says where files are is no secret", () => {
  const keys = { s3_access_key_id: "AKIAIOSFODNN7EXAMPLE", s3_secret_access_key: "wJalrXUtnFEMI" };
  const places = { s3_region: "eu-central-1", s3_bucket: "acme-files" };
  expect(secretTexts(new Map(Object.entries({ ...places, ...keys })))).toEqual(Object.values(keys));
});

test("of an address only user and password are secret", () => {
  const secrets = new Map([
    ["openai_api_key", "sk-123456"],
    ["openai_base_url", "https://proxy-user:p%40ssword@api.example.com/v1"],
    ["ollama_base_url", "http://localhost:11434"],
    ["mistral_base_url", "no address"],
  ]);
  const scrub = scrubber(secretTexts(secrets));
  expect(scrub("sk-123456 no address")).toBe("[secret] [secret]");
  expect(scrub("https://api.example.com/v1 http://localhost:11434")).toBe(
    "https://api.example.com/v1 http://localhost:11434",
  );
  expect(scrub("https://proxy-user:p%40ssword@api.example.com/v1")).toBe(
    "https://[secret]:[secret]@api.example.com/v1",
  );
  expect(scrub("the password is p@ssword")).toBe("the password is [secret]");
});
