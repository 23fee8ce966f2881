import { expect, test } from "vitest";
import { type Share, ShareQueue, type Waiter } from "../../../src/core/limits/share-queue.ts";

/** Shares are written as `organization/agent/client`. */
const shareOf = (name: string) => name.split("/") as unknown as Share;
const nameOf = (waiter: Waiter | undefined) => waiter?.share.join("/");

function line(...waiting: string[]) {
  const line = new ShareQueue();
  for (const name of waiting) line.join({ share: shareOf(name), admit: () => {}, refuse: () => {} });
  const next = () => {
    const waiter = line.next();
    if (waiter) line.begin(waiter.share);
    return nameOf(waiter);
  };
  return {
    line,
    next,
    begin: (name: string) => line.begin(shareOf(name)),
    end: (name: string) => line.end(shareOf(name)),
  };
}

test("organizations take turns, then the agents of each, then the clients of each", () => {
  const { next, line: empty } = line("a/x/1", "a/x/1", "a/x/2", "a/y/1", "a/x/1", "b/z/1", "b/z/1");
  expect([next(), next(), next(), next(), next(), next(), next(), next()]).toEqual([
    "a/x/1",
    "b/z/1",
    "a/y/1",
    "b/z/1",
    "a/x/2",
    "a/x/1",
    "a/x/1",
    undefined,
  ]);
  expect(empty.waiting).toBe(0);
});

test("the owner with the least work under way is next", () => {
  const { next, begin, end } = line("a/x/1", "b/y/1", "c/z/1");
  begin("a/x/1");
  begin("a/x/1");
  begin("b/y/1");
  end("a/x/1");
  end("a/x/1");
  begin("c/z/1");
  begin("c/z/1");
  expect([next(), next(), next()]).toEqual(["a/x/1", "b/y/1", "c/z/1"]);
});

test("the newest of those with the most waiting goes, of the organization, the agent and the client", () => {
  const { line: full } = line("b/z/1", "a/x/1", "a/x/2", "a/x/2", "a/y/1", "a/x/2");
  expect(full.wouldBeLast(shareOf("a/x/2"))).toBe(true);
  expect(full.wouldBeLast(shareOf("a/y/1"))).toBe(false);
  expect(full.wouldBeLast(shareOf("a/x/3"))).toBe(false);
  expect(full.wouldBeLast(shareOf("b/z/1"))).toBe(false);
  expect(full.wouldBeLast(shareOf("c/w/1"))).toBe(false);
  expect([nameOf(full.last()), nameOf(full.last())]).toEqual(["a/x/2", "a/x/2"]);
  expect(full.waiting).toBe(4);
});

test("a waiter that leaves is not called, and finished work leaves no state", () => {
  const { line: kept, begin, end, next } = line();
  const waiter = { share: shareOf("a/x/1"), admit: () => {}, refuse: () => {} };
  kept.join(waiter);
  begin("b/y/1");
  kept.leave(waiter);
  end("b/y/1");
  expect([kept.waiting, kept.busy, next()]).toEqual([0, 0, undefined]);
});
