import { expect, test } from "vitest";
import { commonLane } from "../../src/db/tables/work.ts";
import { createSlots } from "../../src/jobs/slots.ts";

const run = async () => {};
const [ada, bob] = ["00000000-0000-7000-8000-00000000000a", "00000000-0000-7000-8000-00000000000b"];
const running = (kind: string, ...lanes: string[]) => lanes.map((lane) => ({ kind, lane }));

test("a kind has 8 slots unless it says otherwise, an organization half of them, and a claim takes 32 at most", () => {
  let limit = 3;
  const slots = createSlots({
    mail: { run },
    model: { run, limit: 256 },
    rare: { run, limit: () => limit, scarce: true },
  });
  const free = () => slots.free(running("mail", ada, ada, bob)).map((one) => [one.kind, one.free, one.share]);
  expect(free()).toEqual([
    ["mail", 5, 4],
    ["model", 32, 128],
    ["rare", 3, 2],
  ]);
  limit = 1;
  expect(free().at(-1)).toEqual(["rare", 1, 1]);
  expect(slots.free(running("rare", ada)).map(({ kind }) => kind)).toEqual(["mail", "model"]);
});

test("slots are short once a kind has none left, or an organization none of its share", () => {
  const slots = createSlots({ mail: { run, limit: 4 } });
  expect(slots.short(running("mail", ada, bob))).toBe(false);
  expect(slots.short(running("mail", ada, ada))).toBe(true);
  expect(slots.short(running("mail", ada, bob, commonLane))).toBe(false);
  expect(slots.short(running("mail", ada, bob, commonLane, "c"))).toBe(true);
});

test("organizations take turns: the next claim of a kind begins after the last one served", () => {
  const slots = createSlots({ mail: { run }, model: { run } });
  slots.served([...running("mail", ada), ...running("mail", bob)]);
  expect(slots.free([]).map(({ kind, after }) => [kind, after])).toEqual([
    ["mail", bob],
    ["model", commonLane],
  ]);
});
