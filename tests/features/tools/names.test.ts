import fc from "fast-check";
import { expect, test } from "vitest";
import { modelNames } from "../../../src/features/tools/names.ts";

const shown = async (...names: string[]) => Object.fromEntries(await modelNames(names));

test("plain names stay, a namespace becomes two underscores, an agent is asked", async () => {
  expect(await shown("readSkill", "github:create-issue", "files:read file", "agent:my-agent.v2")).toEqual({
    readSkill: "readSkill",
    "github:create-issue": "github__create-issue",
    "files:read file": "files__read_file",
    "agent:my-agent.v2": "ask_my_agent_v2",
  });
});

test("names that would be the same get a hash, except the one that is exactly that", async () => {
  const names = await shown("a:b", "a__b", "agent:x-y", "agent:x.y");
  expect(names.a__b).toBe("a__b");
  expect(names["a:b"]).toMatch(/^a__b_[0-9a-f]{8}$/);
  expect(names["agent:x-y"]).toMatch(/^ask_x_y_[0-9a-f]{8}$/);
  expect(names["agent:x-y"]).not.toBe(names["agent:x.y"]);
});

test("whatever their names, providers accept them and each is unique", async () => {
  const name = fc.oneof(fc.string({ minLength: 1, maxLength: 200 }), fc.stringMatching(/^[ab]{1,2}[:_.-]{1,3}[ab]$/));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name, { maxLength: 30 }), async (names) => {
      const map = await modelNames(names);
      expect([...map.keys()]).toEqual(names);
      for (const modelName of map.values()) expect(modelName).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(new Set(map.values()).size).toBe(names.length);
    }),
  );
});
