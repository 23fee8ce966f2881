import { linkSync, mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readDocuments } from "../../../src/cli/files/documents.ts";
import { readSet } from "../../../src/cli/files/read-set.ts";
import { missingVariables } from "../../../src/cli/files/references.ts";
import { processorTime } from "../../processor-time.ts";
import { directory, picture } from "./directory.ts";

const agent = (slug: string, ...lines: string[]) =>
  ["version: 1.3", "type: instance", "instance:", `  slug: ${slug}`, ...lines.map((line) => `  ${line}`), ""].join(
    "\n",
  );

const skill = "type: skill\nname: Refunds\ndescription: How to refund.\ncontent: |\n  # Refunds\n  Ask first.\n";

/** The problems of files, each as one line. */
async function problemsOf(files: Record<string, string | Uint8Array>, environment = {}): Promise<string[]> {
  const { problems } = await readSet(directory(files), environment);
  return problems.map(({ place, message }) => `${place}: ${message}`);
}

describe("a set of files", () => {
  test("is the agents and skills of a directory, in YAML and JSON, several in one file", async () => {
    const root = directory({
      "agents/support.yaml": agent("support", "model: openai:gpt-5-mini", "icon: ./support.png"),
      "agents/more/two.yml": `${agent("b")}---\n${agent("a")}---\n# nothing\n`,
      "agents/sales.json": `\ufeff${JSON.stringify({ $schema: "../x", version: "1.3", type: "instance", instance: { slug: "sales" } })}`,
      "agents/support.png": picture,
      "agents/.hidden.yaml": "nonsense: [",
      "agents/notes.md": "# Notes",
      "skills/refunds.yaml": skill,
      "package.json": '{ "name": "of another kind" }',
    });
    const { set, problems } = await readSet(root, {});
    expect(problems).toEqual([]);
    expect(set.agents.map(({ slug }) => slug)).toEqual(["a", "b", "sales", "support"]);
    expect(set.agents[3]).toMatchObject({
      place: "agents/support.yaml:4:3",
      instance: { model: "openai:gpt-5-mini", maxSteps: 16, hooks: [], icon: /^data:image\/png;base64,/ },
      bundle: { version: "1.3" },
    });
    expect(set.skills).toMatchObject([
      { slug: "refunds", skill: { category: "general", content: "# Refunds\nAsk first.\n", requiredEnv: [] } },
    ]);
  });

  test("may be one file, or a directory that contains files itself", async () => {
    const root = directory({ "support.yaml": agent("support") });
    expect(await readSet(root, {})).toMatchObject({ set: { wholeDirectory: true, agents: [{ slug: "support" }] } });
    const one = await readSet(join(root, "support.yaml"), {});
    expect(one).toMatchObject({
      problems: [],
      set: { wholeDirectory: false, agents: [{ place: "support.yaml:4:3" }] },
    });
    await expect(readSet(join(root, "none"), {})).rejects.toThrow(/^There is no directory or file .*none$/);
    await expect(readSet("/dev/null", {})).rejects.toThrow("/dev/null is neither a directory nor a file");
    expect(await problemsOf({ "agents/readme.md": "" })).toEqual([
      expect.stringMatching(/No file holds an agent or a skill/),
    ]);
  });

  test("ignores channel names that every object inherits", async () => {
    const channels = "channels: [{ channelType: constructor, config: { a: b } }]";
    expect(await problemsOf({ "agents/a.yaml": agent("a", channels) })).toEqual([
      expect.stringMatching(/^agents\/a\.yaml:5:\d+: instance\.channels\[0\]\.channelType /),
    ]);
  });

  test("reports every problem at once, with file, line and column", async () => {
    const files = {
      "agents/broken.yaml": "type: instance\ninstance:\n  slug: a\n   name: b\n",
      "agents/colon.yaml": "type: instance\ninstance: [a, b\n",
      "agents/dup.yaml": agent("dup", "name: One", "name: Two"),
      "agents/kind.yaml": "kind: Agent\n",
      "agents/misspelt.yaml": agent(
        "misspelt",
        "modle: gpt-5",
        "hooks:",
        "  - event: sometimes",
        "    actionConfig: { toolName: x, arg: 1 }",
      ),
      "agents/same.yaml": agent("misspelled"),
      "agents/wrong.yaml": agent("wrong", "maxSteps: many", "room: { evalIntervalMinute: 3 }"),
      "agents/x.json": '{\n  "type": "instance",\n  "version": "1.2",\n  "instance": { "slug": "UPPER" }\n}',
      "skills/bad.yaml": `${skill}requiredSecrets: [a]\nrequiredEnv:\n  - nam: TOKEN\n`,
      "skills/again.yaml": skill,
      "skills/refunds.yaml": skill,
    };
    expect((await problemsOf(files)).sort()).toEqual([
      expect.stringMatching(/^agents\/broken.yaml:3:9: /),
      expect.stringMatching(/^agents\/broken.yaml:3:9: /),
      expect.stringMatching(/^agents\/colon.yaml:3:1: /),
      "agents/dup.yaml:6:3: The field `name` is there twice",
      "agents/kind.yaml:1:1: `type` must be instance, for an agent, or skill",
      "agents/misspelt.yaml:5:3: Unknown field `modle`; did you mean `model`?",
      expect.stringMatching(/^agents\/misspelt.yaml:7:7: instance\.hooks\[0\]\.event must be one of: /),
      "agents/misspelt.yaml:8:36: Unknown field `arg`; did you mean `args`?",
      "agents/wrong.yaml:5:3: instance.maxSteps must be a whole number",
      "agents/wrong.yaml:6:11: Unknown field `evalIntervalMinute`; did you mean `evalIntervalMinutes`?",
      expect.stringMatching(/^agents\/x.json:3:3: version must be 1\.3/),
      expect.stringMatching(/^agents\/x.json:4:17: instance\.slug must be 1 to 128 of/),
      "skills/bad.yaml:7:1: requiredSecrets is not a field of skills; use requiredEnv",
      "skills/bad.yaml:9:5: Unknown field `nam`; did you mean `name`?",
      "skills/refunds.yaml:2:1: The skill refunds is at skills/again.yaml:2:1 too",
    ]);
  });
});

describe("rejected files", () => {
  const bomb = [
    "a: &a [x,x,x,x,x,x,x,x,x]",
    ..."bcdefgh".split("").map((name, at) => `${name}: &${name} [${`*${"abcdefg"[at]},`.repeat(9)}]`),
  ];
  test.each([
    ["an anchor inside itself", "type: &x\n  - *x\n", /^agents\/x.yaml:2:5: This alias stands for what contains it$/],
    ["aliases without end", bomb.join("\n"), /^agents\/x.yaml:\d+:\d+: (There are more than 100 aliases|Aliases make)/],
    ["an alias without an anchor", "a: *nothing", /^agents\/x.yaml:1:4: /],
    ["brackets in brackets", "[".repeat(1_000_000), /^agents\/x.yaml:1:65: The file nests more than 64 levels deep$/],
    ["lists in lists", "- ".repeat(1_000_000), /^agents\/x.yaml:1:129: The file nests more than 64 levels deep$/],
    ["deep blocks", Array.from({ length: 2_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"), /nest/],
    ["a list of millions", "- 1\n".repeat(130_000), /^agents\/x.yaml:\d+:\d+: The file holds too many values/],
    ["a tag that would run something", "a: !!js/function 'x'", /^agents\/x.yaml:1:4: Unresolved tag/],
    ["numbers without end", "a: .inf", /^agents\/x.yaml:1:4: This is neither/],
    ["fields named by lists", "? [a, b]\n: 1", /^agents\/x.yaml:1:3: The name of a field must be a text$/],
    ["no UTF-8", new Uint8Array([0x61, 0xff, 0xfe]), /^agents\/x.yaml: The file is not UTF-8$/],
  ])("%s", async (_, text, expected) => {
    const [first = ""] = await problemsOf({ "agents/x.yaml": text });
    expect(first).toMatch(expected);
  });

  test("a file where a folder is expected", async () => {
    expect(await problemsOf({ agents: "x", "skills/refunds.yaml": skill })).toEqual([
      "agents: This folder can't be read (ENOTDIR)",
    ]);
  });

  test("a file larger than 8 MiB, without reading it", async () => {
    const root = directory({ "agents/x.yaml": "", "agents/y.yaml": agent("y") });
    truncateSync(join(root, "agents/x.yaml"), 100 * 1024 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    const { problems } = await readSet(root, {});
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 1024 * 1024);
    expect(problems).toEqual([{ place: "agents/x.yaml", message: "The file is larger than 8 MiB" }]);
  });

  test("a link or a name that leads out of the directory; a link inside is followed", async () => {
    const outside = directory({ "secret.yaml": agent("secret"), "secret.png": picture });
    const root = directory({
      "agents/a.yaml": agent("a", `icon: ../../${outside.split("/").at(-1)}/secret.png`),
      "agents/b.yaml": agent("b", "icon: ./none.png"),
      "agents/c.yaml": agent("c", "icon: ./c.yaml"),
      "kept/d.yaml": agent("d"),
    });
    symlinkSync(join(outside, "secret.yaml"), join(root, "agents/link.yaml"));
    symlinkSync(join(root, "kept/d.yaml"), join(root, "agents/inside.yaml"));
    symlinkSync(outside, join(root, "skills"));
    linkSync(join(root, "kept/d.yaml"), join(root, "agents/hard.md"));
    mkdirSync(join(root, "agents/folder.yaml"));
    const { set, problems } = await readSet(root, {});
    expect(problems.map(({ place, message }) => `${place}: ${message}`).sort()).toEqual([
      expect.stringMatching(/^agents\/a.yaml:5:3: There is no file .*secret\.png in the directory$/),
      "agents/b.yaml:5:3: There is no file ./none.png in the directory",
      "agents/c.yaml:5:3: ./c.yaml is no PNG, JPEG or WebP",
      "agents/link.yaml: This link leads nowhere, or out of the directory",
      "skills: This leads out of the directory",
    ]);
    expect(set.agents.map(({ slug }) => slug)).toEqual(["d"]);
  });

  test("a file with a secret", async () => {
    const file = agent(
      "a",
      "secrets: [{ key: openai_api_key, value: sk-1 }, { key: x, fromEnv: 5 }]",
      "skillEnv: [{ skillSlug: s, env: [{ key: TOKEN, value: sk-2 }] }]",
      "channels: [{ channelType: telegram, config: { botToken: sk-3 } }]",
      "eventSources: [{ name: shop, sourceType: webhook, authKey: { fromEnv: KEY, or: sk-4 } }]",
    );
    const problems = await problemsOf({ "agents/a.yaml": file }, { KEY: "v" });
    expect(problems.sort()).toEqual([
      expect.stringMatching(/^agents\/a.yaml:5:36: A secret never stands in a file: write `fromEnv`/),
      expect.stringMatching(/^agents\/a.yaml:5:61: `fromEnv` must be the name of a variable/),
      expect.stringMatching(/^agents\/a.yaml:6:50: A secret never stands in a file: .*`sensitive: false`/),
      "agents/a.yaml:7:49: A secret never stands in a file: write `botToken: { fromEnv: NAME }`",
      "agents/a.yaml:8:53: A secret never stands in a file: write `authKey: { fromEnv: NAME }`",
    ]);
    expect(problems.join()).not.toContain("sk-");
  });
});

test("a variable of the engine's own, and a secret that no server could store", async () => {
  const file = agent(
    "a",
    "secrets: [{ key: my_token, fromEnv: A }, { key: my_token, fromEnv: B }, { key: My-Token, fromEnv: C }]",
    "skillEnv: [{ skillSlug: s, env: [{ key: URL, sensitive: false, fromEnv: AGENT_ENGINE_KEY }] }]",
  );
  const headers = agent("b", "skillEnv: [{ skillSlug: s, env: [{ key: URL, fromEnv: OTEL_EXPORTER_OTLP_HEADERS }] }]");
  expect(await problemsOf({ "agents/b.yaml": headers })).toEqual([
    "agents/b.yaml:5:48: The variable OTEL_EXPORTER_OTLP_HEADERS is a credential of Agent Engine itself, which no agent gets",
  ]);
  expect(await problemsOf({ "agents/a.yaml": file }, { AGENT_ENGINE_KEY: "aek_canary" })).toEqual([
    "agents/a.yaml:5:44: The secret `my_token` is at agents/a.yaml:5:13 too",
    "agents/a.yaml:5:75: The secret `My-Token` must have a key of 1 to 64 of a-z, 0-9 and _",
    "agents/a.yaml:6:66: The variable AGENT_ENGINE_KEY is a credential of Agent Engine itself, which no agent gets",
  ]);
});

test("credentials come from the environment: every missing variable is reported", async () => {
  const environment = { SHOP_URL: "https://shop.example", BOT: "123:abc" };
  const file = agent(
    "a",
    "secrets: [{ key: openai_api_key, fromEnv: MODEL_KEY }, { key: kept }]",
    "skillEnv: [{ skillSlug: s, env: [{ key: TOKEN, fromEnv: SHOP_TOKEN }, { key: URL, sensitive: false, fromEnv: SHOP_URL }] }]",
    "channels: [{ channelType: telegram, enabled: true, config: { botToken: { fromEnv: BOT } } }]",
    "eventSources: [{ name: shop, sourceType: webhook, authKey: { fromEnv: SHOP_KEY } }]",
  );
  const { set, problems } = await readSet(directory({ "agents/a.yaml": file }), environment);
  expect(problems).toEqual([]);
  const [read] = set.agents;
  expect(missingVariables(read?.references ?? [], environment)).toEqual([
    { place: "agents/a.yaml:5:13", message: "The variable MODEL_KEY is not set in the environment" },
    { place: "agents/a.yaml:6:36", message: "The variable SHOP_TOKEN is not set in the environment" },
    { place: "agents/a.yaml:8:53", message: "The variable SHOP_KEY is not set in the environment" },
  ]);
  // Values that are not secret are part of the bundle; credentials are not.
  expect(read?.instance.skillEnv[0]?.env[1]).toMatchObject({ value: "https://shop.example" });
  expect(JSON.stringify(read?.bundle)).not.toContain("123:abc");
});

test("finds the positions of many fields in linear time", () => {
  const names = Array.from({ length: 50_000 }, (_, index) => `f${index}`);
  const { documents } = readDocuments("x.yaml", names.map((name) => `${name}: 1`).join("\n"));
  const taken = processorTime();
  const places = names.map((name) => documents[0]?.placeOf([name]));
  expect(taken()).toBeLessThan(3_000);
  expect(places).toEqual(names.map((_, index) => `x.yaml:${index + 1}:1`));
});
