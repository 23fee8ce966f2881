import { expect, test } from "vitest";
import { Automaton } from "../../../src/core/scrub/automaton.ts";
import { scrubbed, scrubber } from "../../../src/core/scrub/scrub.ts";
import { Search } from "../../../src/core/scrub/search.ts";
import { processorTime } from "../../processor-time.ts";

/** Text without repetition, the same each time. */
function noise(length: number, seed: number): string {
  let state = seed;
  let text = "";
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) >>> 0;
    text += String.fromCharCode(97 + ((state >>> 16) % 26));
  }
  return text;
}

function follow(automaton: Automaton, text: string): number {
  let state = 0;
  for (let index = 0; index < text.length; index += 1) state = automaton.next(state, text.charCodeAt(index));
  return state;
}

const lead = noise(8000, 7);

test("a prefix that needles share is followed once", () => {
  // 1,600,000 characters, which would be more prefixes than an automaton keeps.
  const automaton = Automaton.of(Array.from({ length: 200 }, (_, index) => `${lead}${noise(40, index)}`));
  follow(automaton, `${lead}?`.repeat(20));
  expect(automaton.depth(follow(automaton, lead))).toBe(8000);
  expect(automaton.full).toBe(false);
});

test("needles cost nothing until they are met", () => {
  const automaton = Automaton.of(Array.from({ length: 80 }, (_, index) => noise(8000, index)));
  follow(automaton, noise(5000, 1_000));
  expect(automaton.full).toBe(false);
});

test("the states visited are forgotten when they become many, but no needle is", () => {
  const needles = Array.from({ length: 70 }, (_, index) => noise(8000, index));
  const automaton = Automaton.of(needles);
  const state = follow(automaton, needles.join("").slice(0, -100));
  expect(automaton.full).toBe(true);
  const renewed = automaton.renewed(state);
  expect(renewed.automaton.full).toBe(false);
  expect(renewed.automaton.depth(renewed.state)).toBe(7900);

  const search = new Search(automaton);
  const found: string[] = [];
  const text = needles.join("-");
  search.push(text, (start, end) => found.push(text.slice(start, end)));
  expect(found).toEqual(needles);
});

test("a scrubber continues after it forgot, also in the middle of a secret", () => {
  const secrets = Array.from({ length: 70 }, (_, index) => noise(8000, index));
  const scrub = scrubber(secrets);
  const all = secrets.join("\n");
  const stream = scrub.stream();
  let said = "";
  for (let from = 0; from < all.length; from += 4_999) said += stream.push(all.slice(from, from + 4_999));
  expect(said + stream.flush()).toBe(secrets.map(() => scrubbed).join("\n"));
  expect(scrub(all)).toBe(secrets.map(() => scrubbed).join("\n"));
});

test("secrets that are turns of each other, or one character over and over, take linear time", () => {
  const turn = noise(64, 3);
  const turns = Array.from({ length: 64 }, (_, index) => `${(turn.slice(index) + turn.slice(0, index)).repeat(120)}!`);
  const same = Array.from({ length: 64 }, (_, index) => `${"a".repeat(7900)}${noise(20, index)}`);
  const scrub = scrubber([...turns, ...same]);
  const texts = [turn.repeat(16_000), "a".repeat(1_000_000), `${"a".repeat(7899)}?`.repeat(120)];
  const taken = processorTime();
  for (const text of texts) expect(scrub(text)).toBe(text);
  expect(scrub(`x${turns[5]}y${same[9]}z`)).toBe(`x${scrubbed}y${scrubbed}z`);
  // It took sixteen seconds when each secret was followed by itself.
  expect(taken()).toBeLessThan(3000);
});
