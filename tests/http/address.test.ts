import { describe, expect, test } from "vitest";
import { clientAddress, clientKey, networkKey } from "../../src/http/callers/address.ts";

describe("clientAddress", () => {
  test.each([
    ["192.0.2.1", undefined, 0, "192.0.2.1"],
    ["192.0.2.1", "203.0.113.9", 0, "192.0.2.1"],
    ["192.0.2.1", undefined, 1, "192.0.2.1"],
    ["192.0.2.1", "203.0.113.9", 1, "203.0.113.9"],
    ["192.0.2.1", "6.6.6.6, 203.0.113.9", 1, "203.0.113.9"],
    ["192.0.2.1", "6.6.6.6, 203.0.113.9, 10.0.0.1", 2, "203.0.113.9"],
    ["192.0.2.1", "203.0.113.9", 3, "203.0.113.9"],
    ["192.0.2.1", "203.0.113.9:4711", 1, "203.0.113.9"],
    ["192.0.2.1", "[2001:DB8::1]:4711", 1, "2001:db8::1"],
    ["192.0.2.1", "[2001:db8::1]", 1, "2001:db8::1"],
    ["192.0.2.1", "unknown", 1, "192.0.2.1"],
    ["192.0.2.1", "", 1, "192.0.2.1"],
    ["192.0.2.1", "<script>", 1, "192.0.2.1"],
    ["192.0.2.1", "1:2", 1, "192.0.2.1"],
    ["::ffff:192.0.2.1", undefined, 0, "192.0.2.1"],
    ["fe80::1%eth0", undefined, 0, "fe80::1"],
    [undefined, undefined, 0, "unknown"],
  ])("of socket %s, header %s and %i proxies is %4$s", (socket, header, proxies, expected) => {
    expect(clientAddress(socket, header, proxies)).toBe(expected);
  });
});

describe("clientKey", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
    ["unknown", "unknown"],
  ])("of %s is %s", (ip, expected) => {
    expect(clientKey(ip)).toBe(expected);
  });
});

test.each([
  ["192.0.2.1", null],
  ["unknown", null],
  ["2001:0db8:0001:2::9", "2001:db8:1::/48"],
  ["::1", "0:0:0::/48"],
])("networkKey of %s is %s", (ip, expected) => {
  expect(networkKey(ip)).toBe(expected);
});
