import { eq } from "drizzle-orm";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, files } from "../../../src/db/schema.ts";
import { bytesOf, type FilesHarness, filesHarness, png } from "./attachments.ts";

describe("a file that comes in", () => {
  test.each(["directory", "s3"] as const)("is stored (%s) and read as it was sent", async (store) => {
    const h = await filesHarness({ store });
    const messageId = newId();
    const file = await h.store({ messageId });
    expect(file).toEqual({ id: file.id, name: "note.txt", mime: "text/plain", size: 3, url: `/api/files/${file.id}` });
    expect(await h.rows()).toMatchObject([{ id: file.id, messageId, status: "stored", store, size: 3 }]);
    expect([...h.local.keys()]).toEqual(store === "directory" ? [file.id] : []);
    expect([...h.s3.objects.keys()]).toEqual(store === "s3" ? [`/acme-files/agent-engine/${file.id}`] : []);
    const answer = await h.read(file.url);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("tea");
  });

  test("may be empty", async () => {
    const h = await filesHarness({ store: "s3" });
    const answer = await h.read((await h.store({ bytes: bytesOf("") })).url);
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  });

  test("is what its content says, under a name without tricks", async () => {
    const h = await filesHarness();
    const named = await h.store({ name: "../\0evil\u202e.txt", mime: "image/png", bytes: bytesOf("<script>") });
    expect(named).toMatchObject({ name: "evil.txt", mime: "application/octet-stream" });
    expect(await h.store({ name: "a.txt", mime: "text/html", bytes: png })).toMatchObject({ mime: "image/png" });
  });

  test("is refused while the agent takes none", async () => {
    const h = await filesHarness();
    await h.db.update(agents).set({ attachmentsEnabled: false });
    await expect(h.store()).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining("attachmentsEnabled"),
    });
    expect(await h.rows()).toEqual([]);
    expect(h.local.size).toBe(0);
  });

  test("may have 20 MB and not a byte more", async () => {
    const h = await filesHarness();
    const most = 20 * 1024 * 1024;
    await expect(h.store({ bytes: new Uint8Array(most + 1) })).rejects.toMatchObject({ status: 413 });
    const { url, size } = await h.store({ bytes: new Uint8Array(most) });
    expect(size).toBe(most);
    expect((await (await h.read(url)).arrayBuffer()).byteLength).toBe(most);
  });

  test("needs storage: without the embedded database only S3", async () => {
    const h = await filesHarness({ store: "none" });
    await h.putSecrets({ s3_region: "eu-central-1", s3_bucket: "acme-files" });
    await expect(h.store()).rejects.toMatchObject({
      status: 409,
      message:
        "There is nowhere to store files: set the agent's secrets s3_region, s3_bucket, s3_access_key_id and s3_secret_access_key",
    });
    expect(await h.rows()).toEqual([]);
  });

  test("belongs to a conversation of its agent", async () => {
    const h = await filesHarness();
    const other = await h.createOrganization("other");
    const id = newId();
    const theirs = { id, slug: "theirs", name: "x", organizationId: other.id, workspaceId: other.workspaceId };
    await h.db.insert(agents).values({ ...theirs, attachmentsEnabled: true });
    const foreign = await h.conversation({ id, organizationId: other.id });
    await expect(h.store({ conversation: foreign })).rejects.toMatchObject({ status: 404 });
    await expect(h.store({ conversation: { id: newId() } })).rejects.toMatchObject({ status: 404 });
    expect(h.local.size).toBe(0);
  });

  test("that S3 refuses leaves nothing", async () => {
    const h = await filesHarness({ store: "s3" });
    h.s3.state.failing = { status: 403, code: "InvalidAccessKeyId" };
    await expect(h.store()).rejects.toMatchObject({ message: "The file storage answered 403 InvalidAccessKeyId" });
    expect(await h.rows()).toEqual([]);
  });

  test("that S3 may have stored all the same stays pending, and cannot be read", async () => {
    const h = await filesHarness({ store: "s3" });
    h.s3.state.failing = { status: 503, code: "SlowDown" };
    await expect(h.store()).rejects.toMatchObject({ status: 502, message: "The file storage answered 503 SlowDown" });
    const [row] = await h.rows();
    expect(row?.status).toBe("pending");
    expect((await h.read(`/api/files/${row?.id}`)).status).toBe(404);
  });
});

describe("GET /api/files/{id}", () => {
  const harmless = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-store",
  };
  const page = { name: "tea (1).html", mime: "text/html", bytes: bytesOf("<script>alert(1)</script>") };

  test("lets a browser do nothing with a page but save it", async () => {
    const h = await filesHarness();
    const { headers } = await h.read((await h.store(page)).url);
    expect(Object.fromEntries(headers)).toMatchObject({
      ...harmless,
      "content-type": "text/html",
      "content-length": "25",
      "content-disposition": "attachment; filename*=UTF-8''tea%20%281%29.html",
    });
  });

  test("shows a picture inline, and sends a drawing that can carry a script as a download", async () => {
    const h = await filesHarness();
    const picture = await h.read((await h.store({ name: "a.png", mime: "image/png", bytes: png })).url);
    expect(Object.fromEntries(picture.headers)).toMatchObject({
      ...harmless,
      "content-type": "image/png",
      "content-disposition": "inline; filename*=UTF-8''a.png",
    });
    const drawing = await h.read(
      (await h.store({ name: "a.svg", mime: "image/svg+xml", bytes: bytesOf("<svg/>") })).url,
    );
    expect(Object.fromEntries(drawing.headers)).toMatchObject({
      ...harmless,
      "content-type": "application/octet-stream",
      "content-disposition": "attachment; filename*=UTF-8''a.svg",
    });
  });

  test("answers 304 to who knows it, without asking the storage, and as safely", async () => {
    const h = await filesHarness({ store: "s3" });
    const { url } = await h.store();
    const etag = (await h.read(url)).headers.get("ETag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    const asked = h.s3.asked.length;
    const known = await h.read(url, { "If-None-Match": `W/"x", ${etag}` });
    expect([known.status, await known.text()]).toEqual([304, ""]);
    expect(Object.fromEntries(known.headers)).toMatchObject(harmless);
    expect(h.s3.asked).toHaveLength(asked);
    expect((await h.read(url, { "If-None-Match": '"x"' })).status).toBe(200);
  });

  test("is for readers of conversations who reach the agent; for all others there is no such file", async () => {
    const h = await filesHarness();
    const { url } = await h.store();
    const other = await h.createOrganization("other");
    const status = async (headers: Record<string, string>) => (await h.request(url, { headers })).status;
    expect(await status(await h.as("viewer"))).toBe(200);
    expect(await status(await h.as("viewer", { reach: false }))).toBe(404);
    expect(await status(await h.as("owner", { organization: other }))).toBe(404);
    expect(await status({})).toBe(401);
  });

  test.each(["x", "..%2F..%2Fsecret", "%00", newId(), "a".repeat(5_000)])("knows no file %s", async (id) => {
    const h = await filesHarness();
    expect((await h.read(`/api/files/${id}`)).status).toBe(404);
  });

  test("HEAD says the same without the bytes", async () => {
    const h = await filesHarness({ store: "s3" });
    const { url } = await h.store();
    const answer = await h.request(url, { method: "HEAD", headers: h.headers });
    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).toEqual([200, "3", ""]);
    expect(h.s3.asked.filter((line) => line.startsWith("GET"))).toEqual([]);
  });

  test("reads a file where it was put, whatever bucket later ones go to", async () => {
    const h = await filesHarness({ store: "s3" });
    const old = await h.store();
    await h.putSecrets({ s3_bucket: "acme-newer" });
    const fresh = await h.store({ bytes: bytesOf("coffee") });
    expect([...h.s3.objects.keys()]).toEqual([
      `/acme-files/agent-engine/${old.id}`,
      `/acme-newer/agent-engine/${fresh.id}`,
    ]);
    expect(await (await h.read(old.url)).text()).toBe("tea");
    expect(await (await h.read(fresh.url)).text()).toBe("coffee");
  });

  test("says what is wrong with the storage", async () => {
    const h = await filesHarness({ store: "s3" });
    const { url } = await h.store();
    const answered = async () => {
      const answer = await h.read(url);
      return [answer.status, ((await answer.json()) as { message: string }).message];
    };
    h.s3.state.failing = { status: 403, code: "AccessDenied" };
    expect(await answered()).toEqual([502, "The file storage answered 403 AccessDenied"]);
    h.s3.state.failing = null;
    h.s3.objects.clear();
    expect(await answered()).toEqual([404, "File not found"]);
    await h.request(`/api/instances/${h.slug}/secrets/s3_bucket`, { method: "DELETE", headers: h.headers });
    expect(await answered()).toEqual([409, expect.stringContaining("set the agent's secrets s3_region")]);
  });

  test.each(["", "te", "tea and more"])("says so when the bucket holds %j instead", async (content) => {
    const h = await filesHarness({ store: "s3" });
    const { id, url } = await h.store();
    h.s3.objects.set(`/acme-files/agent-engine/${id}`, { bytes: Buffer.from(content), mime: undefined });
    const answer = await h.read(url);
    expect([answer.status, (await answer.json()).message]).toEqual([
      502,
      "The stored file has another size than it had",
    ]);
  });

  test.each(["t", "tea and more"])("breaks off when %j comes instead, and the log says why", async (content) => {
    const printed = vi.spyOn(console, "error");
    onTestFinished(() => printed.mockRestore());
    const h = await filesHarness();
    const { id, url } = await h.store({ bytes: bytesOf("tea") });
    const { directory } = h.services.files;
    if (!directory) throw new Error("There is no directory");
    directory.get = async () => ({ bytes: new Blob([content]).stream(), size: null });
    const answer = fetch((await h.listen()) + url, { headers: h.headers });
    await expect(answer.then((one) => one.text())).rejects.toThrow();
    const told = h.logs.filter((line) => line.includes("A file broke off while it was sent"));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(id);
    expect(told[0]).toContain("requestId");
    expect(printed).not.toHaveBeenCalled();
  });

  /** Reads the beginning of a file whose storage continues as `source` says, and leaves until the storage is released. */
  async function leave(h: FilesHarness, source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>>): Promise<void> {
    const { url } = await h.store();
    await h.db.update(files).set({ size: 1_000_000_000 });
    const cancelled = Promise.withResolvers<void>();
    const { directory } = h.services.files;
    if (!directory) throw new Error("There is no directory");
    const bytes = new ReadableStream({ ...source, cancel: () => cancelled.resolve() });
    directory.get = async () => ({ bytes, size: null });
    const controller = new AbortController();
    const answer = await fetch((await h.listen()) + url, { headers: h.headers, signal: controller.signal });
    await answer.body?.getReader().read();
    controller.abort();
    await cancelled.promise;
  }

  test("closes the storage's stream when its reader goes away", async () => {
    await leave(await filesHarness(), { pull: (c) => c.enqueue(new Uint8Array(65_536)) });
  });

  test("logs nothing when its reader goes away while the storage is waited for", async () => {
    const h = await filesHarness();
    await leave(h, { start: (c) => c.enqueue(bytesOf("t")) });
    await new Promise((resolve) => setImmediate(resolve));
    expect(h.logs.filter((line) => line.includes("broke off"))).toEqual([]);
  });

  test("gives nothing of a file that is being deleted", async () => {
    const h = await filesHarness();
    const { id, url } = await h.store();
    await h.db.update(files).set({ status: "deleting" }).where(eq(files.id, id));
    expect((await h.read(url)).status).toBe(404);
  });

  test("outlives the switch", async () => {
    const h = await filesHarness();
    const { url } = await h.store();
    await h.db.update(agents).set({ attachmentsEnabled: false });
    expect((await h.read(url)).status).toBe(200);
    await h.db.delete(conversations);
    expect((await h.read(url)).status).toBe(200);
  });
});
