import fc from "fast-check";
import { expect, test } from "vitest";
import { shownSubject, subjectChannels, subjectKey } from "../../../src/core/channels/subjects.ts";

/** Ids that look like keys, and any others. */
const id = fc.oneof(
  fc.constantFrom("", "5", ":", "web:5", "telegram:5", "conversation:", "web:web:5", "\0", "5\0", "x".repeat(10_000)),
  fc.string({ unit: "binary" }),
);
const person = fc.record({ channel: fc.constantFrom(...subjectChannels), id });

test("two end users have one key only if channel and id are the same, whatever the id looks like", () => {
  fc.assert(
    fc.property(person, person, (one, other) => {
      const same = one.channel === other.channel && one.id === other.id;
      expect(subjectKey(one.channel, one.id) === subjectKey(other.channel, other.id)).toBe(same);
      expect(subjectKey(one.channel, one.id)).not.toBe("");
      expect(shownSubject(subjectKey(one.channel, one.id))).toEqual({ subject: one.id, subjectChannel: one.channel });
    }),
    { numRuns: 2_000 },
  );
});

test("an anonymous user has no channel, and a bare id of an earlier release belongs to the web", () => {
  expect(shownSubject("")).toEqual({ subject: "", subjectChannel: null });
  expect(shownSubject("5550001")).toEqual({ subject: "5550001", subjectChannel: "web" });
});
