import fc from "fast-check";
import { expect, test } from "vitest";
import { Tally } from "../../../src/core/limits/tally.ts";

test("counts are of their owners, and their sum is of all", () => {
  const changes = fc.array(fc.tuple(fc.constantFrom("a", "b", undefined), fc.integer({ min: -9, max: 9 })));
  fc.assert(
    fc.property(changes, (made) => {
      const tally = new Tally();
      for (const [owner, change] of made) tally.add(owner, change);
      const sum = (of: readonly (readonly [unknown, number])[]) => of.reduce((total, [, change]) => total + change, 0);
      expect(tally.sum).toBe(sum(made));
      for (const owner of ["a", "b", undefined]) expect(tally.of(owner)).toBe(sum(made.filter(([of]) => of === owner)));
    }),
  );
});
