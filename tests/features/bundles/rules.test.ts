import { expect, test } from "vitest";
import { embedderProblem } from "../../../src/features/bundles/read/managed.ts";
import { unknownFields } from "../../../src/features/bundles/read/unknown-fields.ts";
import { convert, isBeforeWebSwitch, readVersions, versionOf } from "../../../src/features/bundles/read/versions.ts";
import { changedParts, freeSlug, permissionsFor } from "../../../src/features/bundles/rules.ts";
import { Bundle, BundledInstance } from "../../../src/features/bundles/schema.ts";

test("a taken slug gets a suffix, and stays within 128 characters", () => {
  const next = (slug: string, ...taken: string[]) => freeSlug(slug, new Set(taken));
  expect(next("a")).toBe("a");
  expect(next("a", "a")).toBe("a-imported");
  expect(next("a", "a", "a-imported", "a-imported-3")).toBe("a-imported-2");
  const long = "x".repeat(128);
  const first = next(long, long);
  expect([first.length <= 128, first.endsWith("x-imported")]).toEqual([true, true]);
  expect(next(long, long, first)).toBe(`${first}-2`);
});

test("a format may be the number that YAML makes of it", () => {
  expect([1, 1.3, "1.5", "1", "1.30", 2, null, {}].map(versionOf)).toEqual([
    ...["1.0", "1.3", "1.5", null, null, null, null, null],
  ]);
  expect(readVersions.filter(isBeforeWebSwitch)).toEqual(["1.0", "1.1", "1.2", "1.4"]);
});

test("an older format becomes 1.3 step by step; what is not as it should be is left to the schema", () => {
  const oldest = { slug: "a", prompts: { "02-soul.md": "b" }, skills: ["c"], manualTools: ["ghPR", "d"], hooks: null };
  expect(convert("1.0", oldest)).toEqual({
    slug: "a",
    prompts: [{ key: "02-soul", content: "b" }],
    skills: [{ skillSlug: "c", enabled: true }],
    manualTools: ["github:listPullRequests", "github:getPullRequest", "github:createPullRequest", "d"],
    hooks: null,
    channels: [{ channelType: "web", enabled: true }],
  });
  const web = { channelType: "web", enabled: false, config: { allowedOrigins: ["*"] } };
  const slack = { channelType: "slack" };
  expect(convert("1.2", { channels: [slack, web] })).toEqual({ channels: [slack, { ...web, enabled: true }] });
  const tools = [{ name: "fileUpload", needsApproval: true }, "x"];
  expect(convert("1.4", { manualTools: tools })).toMatchObject({
    manualTools: ["files:upload", "x"],
    toolsNeedingApproval: ["files:upload"],
  });
  for (const version of readVersions) {
    for (const odd of [{ prompts: 1, skills: "s", manualTools: {}, hooks: [1, null], channels: 5 }, {}]) {
      expect(() => convert(version, odd)).not.toThrow();
    }
  }
  expect(convert("1.3", oldest)).toBe(oldest);
});

test("unknown fields are found at every level, and nothing in free objects", () => {
  const hook = { event: "message_received", actionConfig: { toolName: "a", args: { any: { thing: 1 } }, x: 1 } };
  const sent = { version: "1.3", instance: { slug: "a", y: 1, hooks: [hook, 5, null], room: { z: 1 }, skills: {} } };
  expect(unknownFields(Bundle, sent).map(({ path }) => path.join("."))).toEqual([
    ...["instance.y", "instance.hooks.0.actionConfig.x", "instance.room.z"],
  ]);
});

test("an embedder is known by its provider, alone or with the model", () => {
  for (const known of [null, undefined, "openai", "openai:text-embedding-3-small", { provider: "mistral" }]) {
    expect(embedderProblem(known)).toBeNull();
  }
  for (const other of ["", "acme", "openai:ada", 5, [], {}]) expect(embedderProblem(other)).not.toBeNull();
});

test("each part that differs asks for the permission of its route", () => {
  const instance = (more: object) => BundledInstance.parse({ slug: "a", ...more });
  const between = (more: object) => permissionsFor(changedParts(instance({}), instance(more)));
  expect(between({ name: "b", maxSteps: 3, slug: "b", secrets: [{ key: "x" }] })).toEqual([]);
  expect(between({ hooks: [{ event: "response_sent", actionConfig: { toolName: "a" } }] })).toEqual([
    "agent.governance:write",
  ]);
  expect(between({ room: {}, eventSources: [{ name: "a", sourceType: "b" }] })).toEqual(["agent.room:write"]);
  const task = { name: "a", prompt: "b", schedule: { type: "interval", everyMs: 60_000 } };
  expect(between({ prompts: [{ key: "02-soul", content: "" }], manualTools: [], scheduledTasks: [task] })).toEqual([
    ...["agent.prompt:write", "agent.tool:write", "agent.task:write"],
  ]);
  expect(between({ skills: [{ skillSlug: "a" }], channels: [{ channelType: "web" }] })).toEqual([
    ...["agent.skill:write", "agent.channel:write"],
  ]);
});
