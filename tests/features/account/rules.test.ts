import { expect, test } from "vitest";
import { nameOf } from "../../../src/features/account/user.ts";

test("an account is named after the part before the @", () => {
  expect(nameOf("ada.lovelace@example.com")).toBe("ada.lovelace");
});
