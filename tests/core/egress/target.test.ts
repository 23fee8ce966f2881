import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EgressError, isPublicAddress, parseTarget, reachableAddresses } from "../../../src/core/egress/target.ts";

/** First and last address of the special-purpose ranges in the IANA registries that are not globally reachable. */
const hidden4 = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "239.255.255.255"],
  ["240.0.0.0", "255.255.255.255"],
] as const;

const hidden6 = [
  ["::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
] as const;

const number4 = (address: string) => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
const text4 = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");

/** All addresses of a range are equally likely, its ends more so. */
const hiddenAddress = fc
  .constantFrom(...hidden4)
  .chain(([first, last]) => fc.integer({ min: number4(first), max: number4(last) }));

describe("an address", () => {
  test.each(hidden4)("from %s to %s is not public, and those around it are", (first, last) => {
    const around = [number4(first) - 1, number4(last) + 1].filter((value) => value >= 0 && value < 2 ** 32);
    // Two adjacent ranges have no neighbours in between.
    const outside = around.filter((value) => !hidden4.some(([a, b]) => number4(a) <= value && value <= number4(b)));
    expect([first, last].filter(isPublicAddress)).toEqual([]);
    expect(outside.map(text4).filter((address) => !isPublicAddress(address))).toEqual([]);
  });

  test.each(hidden6)("from %s to %s is not public", (first, last) => {
    expect([first, last].filter(isPublicAddress)).toEqual([]);
  });

  test.each([
    ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.215.14", "100.63.255.255", "100.128.0.0"],
    ...[
      "172.15.255.255",
      "172.32.0.0",
      "192.0.1.0",
      "192.167.255.255",
      "198.17.255.255",
      "198.20.0.0",
      "223.255.255.255",
    ],
    ...["2001:200::", "2001:4860:4860::8888", "2606:4700:4700::1111", "2a00:1450::1", "2620:fe::fe", "2400:cb00::1"],
    ...["::ffff:8.8.8.8", "::ffff:808:808", "64:ff9b::8.8.8.8", "64:ff9b::808:808", "2001:db9::", "3ffe:ffff::1"],
  ])("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    ...["", " ", "1", "1.1", "1.1.1", "01.1.1.1", "1.1.1.1 ", "0x1.1.1.1", "16843009", "1.1.1.256", "1.1.1.1/32"],
    ...["example.com", "2606:4700", "[2606:4700::1]", "2606::4700::1", "2606:4700::1/64", "2606:4700::g", ":", ":::"],
  ])("%j is none", (address) => expect(isPublicAddress(address)).toBe(false));

  test("of a hidden range is hidden in IPv6 too, mapped or translated", () => {
    fc.assert(
      fc.property(hiddenAddress, fc.constantFrom("::ffff:", "64:ff9b::", "::", "::ffff:0:"), (value, prefix) => {
        expect(isPublicAddress(text4(value))).toBe(false);
        expect(isPublicAddress(prefix + text4(value))).toBe(false);
        expect(isPublicAddress(`${prefix}${(value >>> 16).toString(16)}:${(value & 65_535).toString(16)}`)).toBe(false);
        expect(isPublicAddress(`2002:${(value >>> 16).toString(16)}:${(value & 65_535).toString(16)}::`)).toBe(false);
      }),
    );
  });
});

describe("a URL", () => {
  const target = (url: string) => {
    const { host, port, literal } = parseTarget(url);
    return { host, port, literal };
  };

  test("is parsed once: host, port and whether it is an address", () => {
    expect(target("http://Example.COM/a")).toEqual({ host: "example.com", port: 80, literal: false });
    expect(target("https://example.com.:8443/")).toEqual({ host: "example.com", port: 8443, literal: false });
    expect(target("https://[2606:4700:0::1]/")).toEqual({ host: "2606:4700::1", port: 443, literal: true });
    expect(target("http://0x7f.1.:80")).toEqual({ host: "127.0.0.1", port: 80, literal: true });
    expect(target("http://public.test\\@127.0.0.1/")).toEqual({ host: "public.test", port: 80, literal: false });
    expect(target("http://public.test#@127.0.0.1/")).toEqual({ host: "public.test", port: 80, literal: false });
    expect(target("http://例子.test")).toMatchObject({ host: "xn--fsqu00a.test", literal: false });
  });

  test.each([
    ["ftp://example.com/", "The URL must begin with http:// or https://"],
    ["file:///etc/passwd", "The URL must begin with http:// or https://"],
    ["http://user@example.com/", "The URL must not hold a user name or a password"],
    ["http://:secret@example.com/", "The URL must not hold a user name or a password"],
    ["http://example.com:0/", "The port 0 cannot be requested"],
    ["http://a..b/", "The URL has no valid host"],
    ["http://localhost../", "The URL has no valid host"],
    ["http://./", "The URL has no valid host"],
    ["/relative", "The URL is not valid; give a whole one of at most 8192 characters"],
    [`http://example.com/${"a".repeat(8_192)}`, "The URL is not valid; give a whole one of at most 8192 characters"],
  ])("%s is refused", (url, message) => expect(() => parseTarget(url)).toThrow(new EgressError(message)));

  test("whose host is a hidden address is refused, however its number is written", async () => {
    const digits = (value: number) =>
      fc.tuple(fc.constantFrom(8, 10, 16), fc.nat({ max: 4 }), fc.boolean()).map(([base, zeros, upper]) => {
        const text = `${base === 10 ? "" : "0".repeat(base === 8 ? zeros + 1 : zeros)}${value.toString(base)}`;
        return base === 16 ? (upper ? `0X${text.toUpperCase()}` : `0x${text}`) : text;
      });
    const written = hiddenAddress.chain((value) => {
      const octets = text4(value).split(".").map(Number);
      const [a = 0, b = 0, c = 0, d = 0] = octets;
      const forms = [[value], [a, value % 2 ** 24], [a, b, c * 256 + d], octets];
      return fc
        .constantFrom(...forms)
        .chain((parts) => fc.tuple(...parts.map(digits)))
        .chain((parts) => fc.constantFrom(parts.join("."), `${parts.join(".")}.`, parts.join("。")));
    });
    const resolve = async () => Promise.reject(new Error("There is nothing to resolve"));
    await fc.assert(
      fc.asyncProperty(written, async (host) => {
        const target = parseTarget(`http://${host}/`);
        expect(target.literal).toBe(true);
        await expect(reachableAddresses(target, [], resolve)).rejects.toThrow("The address is not public");
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  "localhost",
  "LOCALHOST.",
  "a.localhost",
  "a.b.LocalHost.",
])("%s means this machine, even if a resolver calls it public", async (name) => {
  const target = parseTarget(`http://${name}/`);
  const resolve = async () => ["1.1.1.1"];
  await expect(reachableAddresses(target, [], resolve)).rejects.toThrow("The address is not public");
  expect(await reachableAddresses(target, [name], resolve)).toEqual(["1.1.1.1"]);
  expect(await reachableAddresses(parseTarget("http://notlocalhost/"), [], resolve)).toEqual(["1.1.1.1"]);
});

describe("an opened host", () => {
  const opens = (entry: string, url: string) =>
    reachableAddresses(parseTarget(url), [entry], async () => ["10.0.0.1"]).then(
      () => true,
      () => false,
    );

  test.each([
    ["erp.internal", "http://erp.internal/"],
    ["erp.internal", "https://ERP.internal.:9000/"],
    ["erp.internal.", "http://erp.internal/"],
    ["ERP.internal", "http://erp.internal/"],
    ["erp.internal:80", "http://erp.internal/"],
    ["erp.internal:443", "https://erp.internal/"],
    ["erp.internal:0443", "https://erp.internal/"],
    ["localhost", "http://localhost:3000/"],
    ["localhost:3000", "http://localhost:3000/"],
    ["10.0.0.1", "http://10.1:8080/"],
    ["[fd00::1]", "http://[fd00:0::1]/"],
    ["[fd00:0:0::1]:8080", "http://[fd00::1]:8080/"],
  ])("%s lets %s through", async (entry, url) => expect(await opens(entry, url)).toBe(true));

  test.each([
    ["erp.internal", "http://a.erp.internal/"],
    ["erp.internal", "http://erp.internal.evil.test/"],
    ["internal", "http://erp.internal/"],
    ["erp.internal:80", "https://erp.internal/"],
    ["erp.internal:8080", "http://erp.internal/"],
    ["10.0.0.1", "http://erp.internal/"],
    ["10.0.0.1", "http://[::ffff:10.0.0.1]/"],
    ["10.0.0.1", "http://10.0.0.2/"],
    ["fd00::1", "http://[fd00::1]/"],
    ["[fd00::1]:80", "http://[fd00::1]:81/"],
    ["erp.internal/path", "http://erp.internal/"],
    ["user@erp.internal", "http://erp.internal/"],
    ["*.internal", "http://erp.internal/"],
    ["", "http://erp.internal/"],
    ["http://erp.internal", "http://erp.internal/"],
  ])("%s does not let %s through", async (entry, url) => expect(await opens(entry, url)).toBe(false));

  test("gives all of its addresses, a public one too, and none is an error", async () => {
    const target = parseTarget("http://both.test/");
    const both = async () => ["10.0.0.1", "1.1.1.1"];
    expect(await reachableAddresses(target, ["both.test"], both)).toEqual(["10.0.0.1", "1.1.1.1"]);
    await expect(reachableAddresses(target, [], both)).rejects.toThrow("The address is not public");
    await expect(reachableAddresses(target, ["both.test"], async () => [])).rejects.toThrow("The host has no address");
    expect(await reachableAddresses(target, [], async () => ["1.1.1.1", "2606:4700::1"])).toHaveLength(2);
  });

  test("is resolved by its full name, so that no search list applies to it", async () => {
    const asked: string[] = [];
    const resolve = async (name: string) => {
      asked.push(name);
      return ["1.1.1.1"];
    };
    await reachableAddresses(parseTarget("http://example.com./"), [], resolve);
    await reachableAddresses(parseTarget("http://1.1.1.1/"), [], resolve);
    expect(asked).toEqual(["example.com."]);
  });
});
