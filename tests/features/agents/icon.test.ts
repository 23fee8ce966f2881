import { PostgresJsPreparedQuery } from "drizzle-orm/postgres-js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { toBase64 } from "../../../src/core/ids.ts";
import { type Harness, harness } from "../../harness.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const png = bytes(`\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR${"\0".repeat(17)}`);
const jpeg = bytes("\xff\xd8\xff\xe0\0\x10JFIF");
const svg = bytes('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

async function withAgent() {
  const h = await harness();
  const headers = await h.as("owner");
  await h.request("/api/instances", { method: "POST", headers, json: { slug: "face" } });
  return { h, headers };
}

/** Records each statement of the query builder. */
interface Statements {
  queryWithCache(text: string): Promise<unknown>;
}

const url = "/api/instances/face/icon";
const dataUrl = (mime: string, content: Uint8Array) => `data:${mime};base64,${toBase64(content)}`;
const put = (h: Harness, headers: Record<string, string>, icon: string) =>
  h.request(url, { method: "PUT", headers, json: { icon } });
const putRaw = (h: Harness, headers: Record<string, string>, mime: string, body: Uint8Array<ArrayBuffer>) =>
  h.request(url, { method: "PUT", headers: { ...headers, "Content-Type": mime }, body });

describe("the icon", () => {
  it("comes back as it was put, under an address that changes with it", async () => {
    const { h, headers } = await withAgent();
    expect((await h.request(url, { headers })).status).toBe(404);
    const first = (await (await put(h, headers, dataUrl("image/png", png))).json()) as { icon: string };
    expect(first.icon).toMatch(/^\/api\/instances\/face\/icon\?v=[0-9a-f]{16}$/);
    const shown = (await (await h.request("/api/instances/face", { headers })).json()) as {
      instance: { icon: string };
    };
    expect(shown.instance).toMatchObject({ icon: first.icon, revision: 2 });

    const picture = await h.request(first.icon, { headers });
    expect(new Uint8Array(await picture.arrayBuffer())).toEqual(png);
    expect(Object.fromEntries(picture.headers)).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "cache-control": "private, max-age=31536000, immutable",
    });
    const second = (await (await putRaw(h, headers, "image/jpeg", jpeg)).json()) as { icon: string };
    expect(second.icon).not.toBe(first.icon);
    const old = await h.request(first.icon, { headers });
    expect(old.headers.get("Content-Type")).toBe("image/jpeg");
    expect(old.headers.get("Cache-Control")).toBe("private, no-cache");
  });

  it("answers 304 while it is the same", async () => {
    const { h, headers } = await withAgent();
    await put(h, headers, dataUrl("image/png", png));
    const etag = (await h.request(url, { headers })).headers.get("ETag") ?? "";
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const again = await h.request(url, { headers: { ...headers, "If-None-Match": tag } });
      expect([tag, again.status, await again.text()]).toEqual([tag, 304, ""]);
    }
    expect((await h.request(url, { headers: { ...headers, "If-None-Match": '"x"' } })).status).toBe(200);
  });

  it("is not read from the database for a 304", async () => {
    const { h, headers } = await withAgent();
    await put(h, headers, dataUrl("image/png", png));
    const etag = (await h.request(url, { headers })).headers.get("ETag") ?? "";
    const spy = vi.spyOn(PostgresJsPreparedQuery.prototype as unknown as Statements, "queryWithCache");
    onTestFinished(() => spy.mockRestore());
    const bytesRead = async (tag: string) => {
      spy.mockClear();
      await h.request(url, { headers: { ...headers, "If-None-Match": tag } });
      return spy.mock.calls.some(([text]) => text.includes('"bytes"'));
    };
    expect(await bytesRead('"x"')).toBe(true);
    expect(await bytesRead(etag)).toBe(false);
    expect(await bytesRead("*")).toBe(false);
  });

  it("is what its content says, whatever it is called", async () => {
    const { h, headers } = await withAgent();
    expect((await put(h, headers, dataUrl("image/webp", png))).status).toBe(200);
    expect((await h.request(url, { headers })).headers.get("Content-Type")).toBe("image/png");
    expect((await putRaw(h, headers, "application/octet-stream", jpeg)).status).toBe(200);
    const attempts = [
      put(h, headers, dataUrl("image/png", svg)),
      put(h, headers, dataUrl("image/svg+xml", svg)),
      put(h, headers, "data:image/png;base64,????"),
      put(h, headers, "https://example.com/x.png"),
      put(h, headers, ""),
      putRaw(h, headers, "image/svg+xml", svg),
      putRaw(h, headers, "image/png", svg),
      putRaw(h, headers, "image/png", new Uint8Array()),
      h.request(url, { method: "PUT", headers, json: { icon: 5 } }),
      h.request(url, { method: "PUT", headers, json: {} }),
      h.request(url, { method: "PUT", headers }),
    ];
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses).toEqual(statuses.map(() => 400));
    expect((await putRaw(h, headers, "text/html", svg)).status).toBe(415);
    expect((await h.request(url, { headers })).headers.get("Content-Type")).toBe("image/jpeg");
  });

  it("may have 512 KiB and no more", async () => {
    const { h, headers } = await withAgent();
    const sized = (size: number) => {
      const picture = new Uint8Array(size);
      picture.set(png);
      return picture;
    };
    expect((await putRaw(h, headers, "image/png", sized(512 * 1024))).status).toBe(200);
    expect((await put(h, headers, dataUrl("image/png", sized(512 * 1024)))).status).toBe(200);
    expect((await putRaw(h, headers, "image/png", sized(512 * 1024 + 1))).status).toBe(413);
    expect((await put(h, headers, dataUrl("image/png", sized(512 * 1024 + 1)))).status).toBe(413);
    expect((await putRaw(h, headers, "image/png", sized(3 * 1024 * 1024))).status).toBe(413);
  });

  it("can be taken away once", async () => {
    const { h, headers } = await withAgent();
    await put(h, headers, dataUrl("image/png", png));
    const gone = await h.request(url, { method: "DELETE", headers });
    expect([gone.status, await gone.json()]).toEqual([200, { deleted: true }]);
    expect((await h.request(url, { headers })).status).toBe(404);
    const again = await h.request(url, { method: "DELETE", headers });
    expect(await again.json()).toMatchObject({ statusCode: 404, message: "Icon not found" });
    const now = (await (await h.request("/api/instances/face", { headers })).json()) as { instance: unknown };
    // The refused deletion left no trace.
    expect(now.instance).toMatchObject({ icon: null, revision: 3 });
  });

  it("is not a viewer's to change, but theirs to see", async () => {
    const { h, headers } = await withAgent();
    await put(h, headers, dataUrl("image/png", png));
    const viewer = await h.as("viewer");
    expect((await put(h, viewer, dataUrl("image/png", png))).status).toBe(403);
    expect((await h.request(url, { method: "DELETE", headers: viewer })).status).toBe(403);
    expect((await h.request(url, { headers: viewer })).status).toBe(200);
    expect((await h.request(url)).status).toBe(401);
  });
});
