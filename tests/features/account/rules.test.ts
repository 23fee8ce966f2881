import { expect, test } from "vitest";
import { nameOf } from "../../../src/features/account/user.ts";

test("an account is called by what stands before the @", () => {
  expect(nameOf("ada.lovelace@example.com")).toBe("ada.lovelace");
});
