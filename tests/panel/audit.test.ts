import { expect, test } from "vitest";
import type { AuditEntry } from "../../src/client/index.ts";
import { actionText, actorText, changesOf, otherDetailsOf } from "../../src/panel/pages/audit/entry-text.ts";

const entry: AuditEntry = {
  id: "1",
  actor: { type: "user", id: "u", name: "Ada" },
  action: "agent.update",
  target: "tea",
  instanceId: "tea",
  success: true,
  ip: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  details: {
    changes: {
      name: { from: "Tea", to: "Chai" },
      active: { from: true, to: false },
      tags: { from: null, to: ["a", "b"] },
    },
    replaced: ["prompt"],
    more: { deep: 1 },
  },
};

test.each([
  ["agent.update", "changed agent"],
  ["agent.skill.env.delete", "deleted agent skill env"],
  ["session.create", "signed in"],
  ["something.odd", "something.odd"],
])("the action %s", (action, expected) => {
  expect(actionText(action)).toBe(expected);
});

test("the actor of an entry", () => {
  expect(actorText(entry.actor)).toBe("Ada");
  expect(actorText({ type: "key", id: "k", name: "CI" })).toBe("Key CI");
  expect(actorText({ type: "system", id: null, name: null })).toBe("Somebody without an account");
  expect(actorText({ type: "user", id: "u", name: null })).toBe("u");
});

test("the change from old to new, and the other known details", () => {
  expect(changesOf(entry)).toEqual([
    { field: "name", from: "Tea", to: "Chai" },
    { field: "active", from: "on", to: "off" },
    { field: "tags", from: "nothing", to: "a, b" },
  ]);
  expect(otherDetailsOf(entry)).toEqual([
    { name: "replaced", text: "prompt" },
    { name: "more", text: '{\n  "deep": 1\n}' },
  ]);
  expect(changesOf({ ...entry, details: {} })).toEqual([]);
});
