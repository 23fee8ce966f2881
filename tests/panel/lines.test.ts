import { expect, test } from "vitest";
import type { ActivityEvent } from "../../src/client/index.ts";
import { mostLines, noLines, released, withEvent } from "../../src/panel/pages/activity/lines.ts";

const event = (id: string) => ({ id }) as ActivityEvent;
const ids = (events: readonly ActivityEvent[]) => events.map(({ id }) => id);

test("lines are the newest first, each once, and no more than a page bears", () => {
  let lines = noLines;
  for (let index = 0; index < mostLines + 10; index += 1) lines = withEvent(lines, event(`${index}`), false);
  lines = withEvent(lines, event(`${mostLines}`), false);
  expect(lines.shown).toHaveLength(mostLines);
  expect(ids(lines.shown).slice(0, 2)).toEqual([`${mostLines + 9}`, `${mostLines + 8}`]);
});

test("lines that come while the page is paused are held, and shown in order afterwards", () => {
  let lines = withEvent(noLines, event("a"), false);
  for (const id of ["b", "a", "c", "b"]) lines = withEvent(lines, event(id), true);
  expect([ids(lines.shown), ids(lines.held)]).toEqual([["a"], ["c", "b"]]);
  const after = released(lines);
  expect([ids(after.shown), ids(after.held)]).toEqual([["c", "b", "a"], []]);
  expect(withEvent(after, event("b"), false)).toBe(after);
});
