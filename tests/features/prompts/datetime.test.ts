import { expect, test } from "vitest";
import { datetimeIn } from "../../../src/features/prompts/index.ts";

test.each([
  ["UTC", "2026-11-21T08:30:59.999Z", "Saturday, 2026-11-21 08:30 (UTC+00:00)"],
  ["Europe/Rome", "2026-11-21T08:30:00Z", "Saturday, 2026-11-21 09:30 (UTC+01:00)"],
  ["Europe/Rome", "2026-07-01T23:05:00Z", "Thursday, 2026-07-02 01:05 (UTC+02:00)"],
  ["Europe/London", "2026-01-01T00:00:00Z", "Thursday, 2026-01-01 00:00 (UTC+00:00)"],
  ["America/St_Johns", "2026-01-01T00:00:00Z", "Wednesday, 2025-12-31 20:30 (UTC-03:30)"],
  ["Asia/Kathmandu", "2026-02-28T18:15:00Z", "Sunday, 2026-03-01 00:00 (UTC+05:45)"],
  ["Pacific/Kiritimati", "2026-12-31T10:00:00Z", "Friday, 2027-01-01 00:00 (UTC+14:00)"],
  ["No/Such_Zone", "2026-11-21T08:30:00Z", "Saturday, 2026-11-21 08:30 (UTC+00:00)"],
])("in %s %s is %s", (zone, utc, expected) => {
  expect(datetimeIn(zone)(Date.parse(utc))).toBe(expected);
});

test("UTC is as in another name of the zone, whatever the day", () => {
  const [utc, named] = [datetimeIn("UTC"), datetimeIn("Etc/UTC")];
  for (let now = Date.parse("2023-12-25T23:59:00Z"); now < Date.parse("2028-03-02"); now += 86_400_000 + 61_000) {
    expect(utc(now)).toBe(named(now));
  }
});

test("follows the minutes, forwards and back", () => {
  const read = datetimeIn("Europe/Rome");
  const times = ["08:30:00.000", "08:30:59.999", "08:31:00.000", "08:30:59.999"].map((time) =>
    read(Date.parse(`2026-11-21T${time}Z`)).slice(-17, -12),
  );
  expect(times).toEqual(["09:30", "09:30", "09:31", "09:30"]);
});
