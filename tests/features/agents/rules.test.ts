import { describe, expect, it } from "vitest";
import { contentVersion, dataUrlBytes, imageType } from "../../../src/core/files/image.ts";
import { isTimezone } from "../../../src/core/time/calendar.ts";
import { modelCatalogue } from "../../../src/features/agents/models.ts";
import { expectedRevision, isSlug, modelColumns, namesModel } from "../../../src/features/agents/rules.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

describe("slugs", () => {
  it.each(["a", "a.b", "_", "-", "...", "models2", "0-x_y.z", "x".repeat(128)])("takes %s", (slug) => {
    expect(isSlug(slug)).toBe(true);
  });

  it.each([
    "",
    ".",
    "..",
    "models",
    "import",
    "A",
    "a b",
    "a/b",
    "../x",
    "é",
    "a\n",
    "a\0",
    "x".repeat(129),
  ])("refuses %j", (slug) => {
    expect(isSlug(slug)).toBe(false);
  });
});

describe("time zones", () => {
  it.each(["UTC", "Europe/Rome", "America/Argentina/Buenos_Aires", "Etc/GMT+1"])("knows %s", (name) => {
    expect(isTimezone(name)).toBe(true);
  });

  it.each(["", "+01:00", "-05:00", "Mars/Olympus", "Europe/Rome ", "../UTC", "\0"])("does not know %j", (name) => {
    expect(isTimezone(name)).toBe(false);
  });
});

describe("provider and model", () => {
  it.each([
    [{ model: "openai:gpt-5" }, { provider: "openai", model: "gpt-5" }],
    [{ model: "ollama:qwen3:8b" }, { provider: "ollama", model: "qwen3:8b" }],
    [{ model: "qwen3:8b" }, { provider: undefined, model: "qwen3:8b" }],
    [
      { provider: null, model: "demo:demo" },
      { provider: "demo", model: "demo" },
    ],
    [
      { provider: "ollama", model: "mistral:7b" },
      { provider: "ollama", model: "mistral:7b" },
    ],
    [
      { provider: "mistral", model: "mistral:large" },
      { provider: "mistral", model: "large" },
    ],
    [{ provider: "openai" }, { provider: "openai", model: undefined }],
    [{ model: null }, { provider: undefined, model: null }],
  ])("reads %j", (given, columns) => {
    expect(modelColumns(given)).toEqual(columns);
  });

  it.each([
    ...["openai", "qwen3:8b", "ollama:qwen3:8b", "meta-llama/Llama-3.1-8B-Instruct", "models/gemini-3.8-flash"],
    ...["anthropic/claude@20260101", "a", "a..b", "7b", "x".repeat(200), `ollama:${"x".repeat(200)}`],
  ])("%s is a model's name", (name) => {
    expect(namesModel(name)).toBe(true);
  });

  it.each([
    ...["", "openai:", "openai: ", " m", "é", "a b", "a\n", "x".repeat(201)],
    ...[
      "../admin",
      "a/../b",
      "a/..",
      "a/./b",
      "a//b",
      "a/",
      "/a",
      ".",
      "..",
      "google:../m",
      "google:..",
      "google:a/..",
    ],
    ...["a?key=1", "a#1", "a%2fb", "a%2e%2e", "a\\..\\b", "-m", "_m", "@cf", "../../../key/generate?admin=1#"],
  ])("%j is none", (name) => {
    expect(namesModel(name)).toBe(false);
  });
});

describe("If-Match", () => {
  it.each([
    ['"3"', "3"],
    ['W/"12"', "12"],
    [' "1" ', "1"],
    ["*", undefined],
    [undefined, undefined],
  ])("reads %s", (header, revision) => {
    expect(expectedRevision(header)).toBe(revision);
  });

  it.each(["3", '"x"', '"1", "2"', '"', '"99999999999"', "", '"-1"'])("refuses %s", (header) => {
    expect(() => expectedRevision(header)).toThrow('If-Match must be the revision in double quotes, such as "3"');
  });
});

describe("images", () => {
  it("tells them by their content", () => {
    expect(imageType(bytes("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"))).toBe("image/png");
    expect(imageType(bytes("\xff\xd8\xff\xe0"))).toBe("image/jpeg");
    expect(imageType(bytes("RIFF\x10\0\0\0WEBPVP8 "))).toBe("image/webp");
  });

  it.each([
    "",
    "\x89PNG",
    "\x89PNG\r\n\x1a\n<svg/>......",
    "<svg xmlns='…'/>",
    "GIF89a",
    "RIFF\0\0\0\0WAVE",
    "<html>",
  ])("knows no image in %j", (text) => {
    expect(imageType(bytes(text))).toBeNull();
  });

  it("opens data addresses", () => {
    expect(dataUrlBytes("data:image/png;base64,AAEC")).toEqual(new Uint8Array([0, 1, 2]));
    expect(dataUrlBytes("data:;base64,AAEC")).toEqual(new Uint8Array([0, 1, 2]));
  });

  it.each([
    "",
    "AAEC",
    "data:image/png,AAEC",
    "https://x/;base64,AAEC",
    "data:image/png;base64,é",
    "data:image/png;base64",
  ])("finds no bytes in %j", (address) => {
    expect(dataUrlBytes(address)).toBeNull();
  });

  it("names the content", async () => {
    const one = await contentVersion(new Uint8Array([1]));
    expect(one).toMatch(/^[0-9a-f]{16}$/);
    expect(await contentVersion(new Uint8Array([2]))).not.toBe(one);
  });
});

describe("the model catalogue", () => {
  const configured = (keys: Record<string, string>) => {
    const { providers } = modelCatalogue(new Map(Object.entries(keys)));
    return Object.keys(providers).filter((name) => providers[name]?.configured);
  };

  it("says which providers the environment configures, and never with what", () => {
    expect(configured({})).toEqual(["demo"]);
    expect(configured({ openai_api_key: "sk-secret" })).toEqual(["openai", "demo"]);
    expect(configured({ openai_compatible_base_url: "http://localhost" })).toEqual(["openai-compatible", "demo"]);
    expect(configured({ openai_compatible_api_key: "sk-secret" })).toEqual(["demo"]);
    expect(JSON.stringify(modelCatalogue(new Map([["openai_api_key", "sk-secret"]])))).not.toContain("sk-secret");
  });

  it("lists each model as provider:model", () => {
    expect(modelCatalogue(new Map()).models).toEqual(expect.arrayContaining(["demo:demo", "openai:gpt-5-mini"]));
  });
});
