import { describe, expect, test } from "vitest";
import { zMoment } from "../../../src/core/time/calendar.ts";

describe("a moment", () => {
  test.each([
    ["2027-01-01T09:00:00Z", "2027-01-01T09:00:00Z"],
    ["2027-01-01T09:00Z", "2027-01-01T09:00:00Z"],
    ["2027-01-01T09:00+0100", "2027-01-01T09:00:00+01:00"],
    ["2027-01-01T09:00:00.5-0330", "2027-01-01T09:00:00.5-03:30"],
    ["2027-01-01T09:00:00+01", "2027-01-01T09:00:00+01:00"],
  ])("%s is %s", (text, moment) => expect(zMoment().parse(text)).toBe(moment));

  test.each([
    "2027-01-01T09:00",
    "2027-01-01",
    "2027-02-30T09:00Z",
    "2027-01-01T25:00Z",
    "2027-01-01T09:00+",
    "2027-01-01T09:00+01:",
    "2027-01-01T09:00Z00",
    1_798_794_000_000,
    null,
  ])("%j is none", (value) =>
    expect(zMoment().safeParse(value).error?.issues[0]?.message).toBe("must be an ISO 8601 date and time with a zone"));
});
