import { expect, test } from "vitest";
import { MessengerError } from "../../../src/core/channels/messengers.ts";
import { verdictOf } from "../../../src/features/inbox/outbox/verdict.ts";

const now = Date.UTC(2026, 0, 2);
const part = { attempts: 1, mayBeRepeated: false, createdAt: new Date(now - 60_000) };
const error = (more: ConstructorParameters<typeof MessengerError>[1]) => new MessengerError("It said no", more);
const waits = (ms: number, more: object) => ({ kind: "waits", retryAt: new Date(now + ms), ...more });

test("a message that would be refused again is given up, and a temporary failure waits longer each time", () => {
  expect(verdictOf(error({ isPermanent: true }), part, now, 0)).toEqual({ kind: "failed", error: "It said no" });
  expect(verdictOf(error({}), part, now, 0)).toEqual(waits(5_000, { status: "pending", attempts: 1 }));
  expect(verdictOf(error({}), { ...part, attempts: 9 }, now, 0)).toEqual(
    waits(900_000, { status: "pending", attempts: 9 }),
  );
  expect(verdictOf(error({}), { ...part, attempts: 10 }, now, 0)).toEqual({ kind: "failed", error: "It said no" });
});

test("being asked to wait counts as no attempt, and not for longer than a day in all", () => {
  const asks = (retryAfterMs: number) => error({ retryAfterMs });
  const tried = { ...part, attempts: 10 };
  expect(verdictOf(asks(30_000), tried, now, 0)).toEqual(waits(30_000, { status: "pending", attempts: 9 }));
  expect(verdictOf(asks(30_000), tried, now, 1)).toEqual(waits(31_000, { status: "pending", attempts: 9 }));
  expect(verdictOf(asks(86_400_000), tried, now, 0)).toEqual({ kind: "failed", error: "It said no" });
  const old = { ...tried, createdAt: new Date(now - 86_400_000) };
  expect(verdictOf(asks(1_000), old, now, 0)).toEqual({ kind: "failed", error: "It said no" });
});

test("what may have been sent stays so, and is given up once it may have been sent twice", () => {
  expect(verdictOf(error({ mayBeDone: true }), part, now, 0)).toEqual(waits(5_000, { status: "sending", attempts: 1 }));
  expect(verdictOf(error({ mayBeDone: true, isPermanent: true }), part, now, 0)).toMatchObject({ status: "sending" });
  const repeated = { ...part, attempts: 2, mayBeRepeated: true };
  expect(verdictOf(error({ mayBeDone: true }), repeated, now, 0)).toEqual({
    kind: "failed",
    error: "It said no; it may have been delivered all the same",
  });
  expect(verdictOf(error({}), repeated, now, 0)).toMatchObject({ kind: "waits", status: "pending" });
});
