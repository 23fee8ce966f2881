import { describe, expect, test } from "vitest";
import { createS3 } from "../../src/adapters/s3.ts";
import { EngineError, StorageRefusal } from "../../src/core/errors.ts";
import { bucketAddress } from "../../src/core/files/s3.ts";
import type { StoredObject } from "../../src/core/ports.ts";
import { TestClock } from "../clock.ts";
import { s3Server, signatureOf, testBucket } from "../s3-server.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = async (found: StoredObject | null) => (found === null ? null : new Response(found.bytes).text());

async function withServer(bucket: Partial<typeof testBucket> = {}) {
  const clock = new TestClock();
  const server = await s3Server(() => clock.now());
  const store = createS3({ clock, endpoint: server.endpoint })({ ...testBucket, ...bucket });
  return { ...server, clock, store };
}

test("the server of these tests computes the signature of Amazon's example", () => {
  const headers = {
    host: "examplebucket.s3.amazonaws.com",
    range: "bytes=0-9",
    "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "x-amz-date": "20130524T000000Z",
  };
  const request = { method: "GET", path: "/test.txt", query: "", headers, signed: Object.keys(headers) };
  expect(signatureOf({ ...request, region: "us-east-1", secret: testBucket.secretAccessKey })).toBe(
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
});

test("the server of these tests computes the signature of Amazon's example of a link", async () => {
  const query =
    "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host";
  const headers = {
    host: "examplebucket.s3.amazonaws.com",
    "x-amz-date": "20130524T000000Z",
    "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
  };
  const example = { method: "GET", path: "/test.txt", query, headers, signed: ["host"] };
  expect(signatureOf({ ...example, region: "us-east-1", secret: testBucket.secretAccessKey })).toBe(
    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  );
});

describe("a link to an object", () => {
  const link = {
    seconds: 86_400,
    mime: "text/plain",
    disposition: "attachment; filename*=UTF-8''Caf%C3%A9%20%28%2B1%29.txt",
  };

  test("lets anyone read it under its name until it expires", async () => {
    const { store, clock } = await withServer();
    await store.put("agent-engine/1", bytes("tea"), "text/html");
    const url = (await store.link?.("agent-engine/1", link)) ?? "";
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([200, "tea"]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": link.mime,
      "content-disposition": link.disposition,
    });
    await clock.advance(86_400_000);
    expect((await fetch(url)).status).toBe(200);
    await clock.advance(1_000);
    expect((await fetch(url)).status).toBe(403);
  });

  test.each([
    ["another object", (url: string) => url.replace("agent-engine/1", "agent-engine/2")],
    ["a longer time", (url: string) => url.replace("X-Amz-Expires=86400", "X-Amz-Expires=864000")],
    ["another type", (url: string) => url.replace("text%2Fplain", "text%2Fhtml")],
  ])("opens nothing for %s", async (_what, change) => {
    const { store } = await withServer();
    for (const key of ["agent-engine/1", "agent-engine/2"]) await store.put(key, bytes("tea"), "text/plain");
    const url = (await store.link?.("agent-engine/1", link)) ?? "";
    expect(change(url)).not.toBe(url);
    expect((await fetch(change(url))).status).toBe(403);
  });

  test("names the bucket's own host, encodes a space without a plus sign, and contains no secret", async () => {
    const url = await createS3({ clock: new TestClock() })(testBucket).link?.("agent-engine/1", link);
    expect(url).toMatch(/^https:\/\/acme-files\.s3\.eu-central-1\.amazonaws\.com\/agent-engine\/1\?/);
    expect(url).toContain("attachment%3B%20filename");
    expect(url).not.toContain("+");
    expect(url).not.toContain(encodeURIComponent(testBucket.secretAccessKey));
  });
});

describe("a bucket", () => {
  test("stores, returns and deletes under a signature that the service computes too", async () => {
    const { store, objects } = await withServer();
    await store.put("agent-engine/1", bytes("tea"), "text/plain");
    expect(objects.get("/acme-files/agent-engine/1")).toEqual({ bytes: Buffer.from("tea"), mime: "text/plain" });
    expect(await store.get("agent-engine/1")).toMatchObject({ size: 3 });
    expect(await textOf(await store.get("agent-engine/1"))).toBe("tea");
    await store.delete("agent-engine/1");
    expect(objects.size).toBe(0);
    expect(await store.get("agent-engine/1")).toBeNull();
    await store.delete("agent-engine/1");
  });

  test("stores an empty file too", async () => {
    const { store } = await withServer();
    await store.put("empty", bytes(""), "text/plain");
    expect(await textOf(await store.get("empty"))).toBe("");
  });

  test("reports the service's error code, and no key", async () => {
    const { store } = await withServer({ secretAccessKey: "another" });
    const problems = await Promise.allSettled([
      store.put("a", bytes("x"), "text/plain"),
      store.get("a"),
      store.delete("a"),
    ]);
    for (const problem of problems) {
      expect(problem).toMatchObject({
        reason: { status: 502, message: "The file storage answered 403 SignatureDoesNotMatch" },
      });
    }
  });

  test.each([
    ["a refusal", { status: 403, code: "AccessDenied" }, true],
    ["a redirect", { status: 307, code: "TemporaryRedirect" }, true],
    ["a failure of its own", { status: 500, code: "InternalError" }, false],
  ])("after %s it may or may not have stored the bytes", async (_what, failing, isRefusal) => {
    const { store, state } = await withServer();
    state.failing = failing;
    const error: unknown = await store.put("a", bytes("x"), "text/plain").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(EngineError);
    expect(error instanceof StorageRefusal).toBe(isRefusal);
  });

  test.each([
    ["ENOTFOUND", true],
    ["ECONNRESET", false],
  ])("after %s, too", async (code, isRefusal) => {
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error(), { code }) }));
    const store = createS3({ clock: new TestClock(), fetch })(testBucket);
    const error: unknown = await store.put("a", bytes("x"), "text/plain").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: "The file storage cannot be reached" });
    expect(error instanceof StorageRefusal).toBe(isRefusal);
  });

  test("counts a missing object as deleted, but not as stored", async () => {
    const { store, state } = await withServer();
    state.failing = { status: 404, code: "NoSuchBucket" };
    await store.delete("a");
    await expect(store.put("a", bytes("x"), "text/plain")).rejects.toThrow("answered 404 NoSuchBucket");
  });

  test("follows no redirect", async () => {
    const { store, state, asked, endpoint } = await withServer();
    const headers = { Location: `${endpoint}/elsewhere` };
    const put = () => store.put("a", bytes("x"), "text/plain");
    state.failing = { status: 307, code: "TemporaryRedirect", headers };
    await expect(put()).rejects.toThrow(
      /^The file storage answered 307 TemporaryRedirect: it redirects, which is not followed: check S3_ENDPOINT, s3_region and s3_bucket$/,
    );
    state.failing = {
      status: 301,
      code: "PermanentRedirect",
      headers: { ...headers, "x-amz-bucket-region": "eu-west-1" },
    };
    await expect(put()).rejects.toThrow(
      /^The file storage answered 301 PermanentRedirect: the bucket lies in another region than s3_region says$/,
    );
    expect(asked).toEqual(["PUT /acme-files/a", "PUT /acme-files/a"]);
  });

  test("an unreachable service is reported without details", async () => {
    const store = createS3({ clock: new TestClock(), endpoint: "http://127.0.0.1:1" })(testBucket);
    await expect(store.get("a")).rejects.toMatchObject({ status: 502, message: "The file storage cannot be reached" });
  });

  test("may take two minutes", async () => {
    const clock = new TestClock();
    const waiting = Promise.withResolvers<void>();
    const fetch: typeof globalThis.fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
        waiting.resolve();
      });
    const get = createS3({ clock, fetch })(testBucket).get("a");
    const ended = expect(get).rejects.toMatchObject({ cause: { message: "It took longer than 120 seconds" } });
    await waiting.promise;
    await clock.advance(120_000);
    await ended;
  });
});

describe("a file that a bucket sends", () => {
  /** A bucket that sends `tea` in pieces, each when the test says so. */
  async function sending() {
    const clock = new TestClock();
    const sent = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => sent.resolve(controller) });
      const source = await sent.promise;
      init?.signal?.addEventListener("abort", () => source.error(init.signal?.reason));
      return new Response(body);
    };
    const found = await createS3({ clock, fetch })(testBucket).get("a");
    if (!found) throw new Error("The bucket has the file");
    return { clock, source: await sent.promise, reader: found.bytes.getReader() };
  }

  test("may be read slowly", async () => {
    const { clock, source, reader } = await sending();
    for (const piece of ["t", "e", "a"]) {
      source.enqueue(bytes(piece));
      await clock.advance(100_000);
      expect((await reader.read()).value).toEqual(bytes(piece));
    }
    source.close();
    expect((await reader.read()).done).toBe(true);
  });

  test("may be silent for two minutes", async () => {
    const { clock, source, reader } = await sending();
    const piece = reader.read();
    await clock.advance(119_000);
    source.enqueue(bytes("t"));
    expect((await piece).value).toEqual(bytes("t"));
    const ended = expect(reader.read()).rejects.toThrow("It took longer than 120 seconds");
    // The stream asks for the next piece once it has passed on the last one.
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(120_000);
    await ended;
  });
});

test("a bucket has its own host, unless its name has dots or the installation an endpoint", () => {
  const at = (bucket: string, region = "eu-central-1") => bucketAddress({ bucket, region });
  expect(at("acme-files")).toBe("https://acme-files.s3.eu-central-1.amazonaws.com/");
  expect(at("acme-files", "cn-north-1")).toBe("https://acme-files.s3.cn-north-1.amazonaws.com.cn/");
  expect(at("files.acme.example")).toBe("https://s3.eu-central-1.amazonaws.com/files.acme.example/");
  expect(bucketAddress(testBucket, "http://minio:9000")).toBe("http://minio:9000/acme-files/");
});
