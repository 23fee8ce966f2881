import { describe, expect, test } from "vitest";
import { nextHop } from "../../../src/core/egress/redirect.ts";
import { firstHop, type Hop } from "../../../src/core/egress/request.ts";
import { EgressError } from "../../../src/core/egress/target.ts";
import type { EgressRequest } from "../../../src/core/ports.ts";

const { signal } = new AbortController();
const usual = { url: "https://public.test/", method: "GET", headers: {}, allowedHosts: [], sensitive: false };
const hop = (request: Partial<EgressRequest>): Hop => firstHop({ ...usual, maxBytes: 1, signal, ...request });

const refusal = (request: Partial<EgressRequest>): string => {
  try {
    hop(request);
    return "accepted";
  } catch (error) {
    return error instanceof EgressError ? error.message : `not an EgressError: ${error}`;
  }
};

describe("a request", () => {
  test("is taken with any of the usual methods", () => {
    for (const method of ["GET", "head", "POST", "put", "Patch", "DELETE", "OPTIONS"]) {
      expect(hop({ method }).method).toBe(method.toUpperCase());
    }
    for (const method of ["CONNECT", "TRACE", "TRACK", "", "GET /", "G\r\nET", "PROPFIND"]) {
      expect(refusal({ method })).toBe("The method must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    }
  });

  test("has a body of at most 1 MiB, counted in bytes, and none when it asks", () => {
    expect(hop({ method: "POST", body: "a".repeat(1_048_576) }).body).toHaveLength(1_048_576);
    expect(refusal({ method: "POST", body: "ü".repeat(524_289) })).toBe("The body is larger than 1 MiB");
    expect(hop({ method: "POST", body: "" }).body).toHaveLength(0);
    expect(hop({ method: "POST" }).body).toBeNull();
    expect(refusal({ method: "get", body: "" })).toBe("A GET request has no body");
    expect(refusal({ method: "HEAD", body: "a" })).toBe("A HEAD request has no body");
  });

  test.each([
    ...["Host", "host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "TE"],
    ...[
      "Trailer",
      "Upgrade",
      "Expect",
      "HTTP2-Settings",
      "Proxy-Authorization",
      "Proxy-Authenticate",
      "ACCEPT-ENCODING",
    ],
  ])("cannot set the header %s", (name) => {
    expect(refusal({ headers: { [name]: "1" } })).toBe(`The header ${name} cannot be set; leave it out`);
  });

  test.each([
    "",
    " ",
    "a b",
    "a:",
    "a\r\nb",
    "a\nb",
    "a\u0000",
    "ä",
    ":method",
    "a".repeat(129),
    "Host ",
    "\tHost",
  ])("cannot have a header named %j", (name) =>
    expect(refusal({ headers: { [name]: "1" } })).toBe("A header has no valid name"));

  test.each([
    "a\r\nX: y",
    "a\nb",
    "a\rb",
    "\r\n",
    "a\u0000",
    "a\u007f",
    "a\u001fb",
    "€",
    "\ud800",
    "a\u2028",
    "\u010a",
  ])("cannot have the value %j in a header", (value) =>
    expect(refusal({ headers: { "X-A": value } })).toBe(
      "The value of the header X-A has characters that a header cannot hold",
    ));

  test("has at most 64 headers and 16 KiB of them, none twice", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "1"]));
    expect(hop({ headers: many(64) }).headers).toHaveLength(64);
    expect(refusal({ headers: many(65) })).toBe("There are more than 64 headers");
    expect(refusal({ headers: { a: "b".repeat(16_384) } })).toBe("The headers are larger than 16 KiB");
    expect(refusal({ headers: { "X-A": "1", "x-a": "2" } })).toBe("The header x-a is given twice");
    expect(hop({ headers: { "X-A": "a\tb ü", "X-B": "" } }).headers).toHaveLength(2);
  });
});

describe("a redirect", () => {
  const post = hop({
    method: "POST",
    body: "text",
    headers: { "Content-Type": "text/plain", Authorization: "s", "X-Key": "s", Accept: "*/*" },
  });
  const to = (from: Hop, status: number, location: string | undefined, sensitive = false) =>
    nextHop(from, { status, location }, sensitive);

  test.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "POST", "GET"],
    [307, "POST", "POST"],
    [308, "POST", "POST"],
    [301, "PUT", "PUT"],
    [302, "DELETE", "DELETE"],
    [303, "PUT", "GET"],
    [303, "HEAD", "HEAD"],
    [302, "HEAD", "HEAD"],
  ])("%i after %s asks with %s", (status, method, expected) => {
    expect(to({ ...post, method }, status, "/next")?.method).toBe(expected);
  });

  test("that drops the body drops what describes it, and within the origin nothing else", () => {
    const next = to(post, 303, "/next");
    expect(next?.body).toBeNull();
    expect(next?.headers.map(([name]) => name)).toEqual(["Authorization", "X-Key", "Accept"]);
    expect(to(post, 307, "/next")).toMatchObject({ body: post.body, headers: post.headers });
  });

  test.each([
    "https://other.test/",
    "https://public.test:8443/",
    "//other.test/",
    "https://a.public.test/",
  ])("to %s leaves behind what is not known to be harmless", (location) => {
    expect(to(post, 303, location)?.headers).toEqual([["Accept", "*/*"]]);
    expect(to(post, 308, location)).toMatchObject({
      body: post.body,
      headers: [
        ["Content-Type", "text/plain"],
        ["Accept", "*/*"],
      ],
    });
    expect(to(post, 303, location, true)).toBeNull();
  });

  test.each([
    "/next",
    "?q",
    "https://public.test/next",
    "https://PUBLIC.test:443/next",
    "",
  ])("to %j stays within the origin", (location) =>
    expect(to(post, 307, location, true)?.headers).toEqual(post.headers));

  test("from https to http carries neither body nor credentials", () => {
    expect(to(post, 307, "http://public.test/")).toBeNull();
    expect(to(post, 303, "http://public.test/")).toBeNull();
    const plain = hop({ headers: { Accept: "*/*" } });
    expect(to(plain, 302, "http://public.test/")?.headers).toEqual(plain.headers);
    expect(to(hop({ url: "http://public.test/" }), 302, "https://public.test/")?.target.port).toBe(443);
  });

  test("is only what has its status and says where", () => {
    for (const status of [200, 201, 300, 304, 305, 306, 309, 404]) expect(to(post, status, "/next")).toBeNull();
    expect(to(post, 302, undefined)).toBeNull();
  });

  test.each([
    ["file:///etc/passwd", "The URL must begin with http:// or https://"],
    ["https://user@public.test/", "The URL must not hold a user name or a password"],
    ["https://[::1", "The URL is not valid; give a whole one of at most 8192 characters"],
  ])("to %s is an error", (location, message) => {
    expect(() => to(post, 302, location)).toThrow(new EgressError(message));
  });
});
