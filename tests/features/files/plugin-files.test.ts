import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { Services } from "../../../src/context/ctx.ts";
import { createCipher } from "../../../src/core/credentials/cipher.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, files } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { deleteFilesOf } from "../../../src/features/files/index.ts";
import { type FilesHarness, filesHarness } from "./attachments.ts";

const day = 24 * 60 * 60 * 1000;
const local = "http://localhost:4000";

/** Another process on the same database. */
const another = (h: FilesHarness, differing: Partial<Services>) => createEngine({ ...h.services, ...differing }).app;

describe("a file that a tool saves", () => {
  test("lies on this machine, with a link that everybody can read for a day", async () => {
    const h = await filesHarness();
    await h.db.update(agents).set({ attachmentsEnabled: false });
    const saved = await h.save();
    expect(saved).toEqual({
      id: saved.id,
      name: "report.txt",
      mime: "text/plain",
      size: 4,
      url: expect.stringMatching(`^${local}/files/${saved.id}\\?expires=\\d+&signature=[0-9a-f]{64}$`),
      expiresAt: new Date(h.clock.now() + day).toISOString(),
    });
    const answer = await h.request(saved.url);
    expect([answer.status, await answer.text()]).toEqual([200, "done"]);
    expect(await h.rows()).toMatchObject([{ conversationId: h.home.id, messageId: null, status: "stored" }]);
    expect(await (await h.read(`/api/files/${saved.id}`)).text()).toBe("done");
  });

  test("lies in the agent's own bucket, to which its link leads", async () => {
    const h = await filesHarness({ store: "s3" });
    const { id, url } = await h.save({ name: "Café (1).html", mime: "text/html" });
    expect([...h.s3.objects.keys()]).toEqual([`/acme-files/agent-engine/${id}`]);
    expect(url).toMatch(new RegExp(`^${local}/files/${id}\\?`));
    const asked = await h.request(url);
    expect([asked.status, await asked.text()]).toEqual([302, ""]);
    expect(asked.headers.get("cache-control")).toBe("private, no-store");
    const place = asked.headers.get("location") ?? "";
    const answer = await fetch(place);
    expect([answer.status, await answer.text()]).toEqual([200, "done"]);
    expect(answer.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''Caf%C3%A9%20%281%29.html");
    await h.s3Clock.advance(301_000);
    expect((await fetch(place)).status).toBe(403);
    expect((await h.request(url)).status).toBe(302);
  });

  test("in a bucket answers HEAD and 304 itself, and says when the keys are missing", async () => {
    const h = await filesHarness({ store: "s3" });
    const { url, id } = await h.save();
    const head = await h.request(url, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "4"]);
    const headers = { "If-None-Match": head.headers.get("etag") ?? "" };
    expect((await h.request(url, { headers })).status).toBe(304);
    await h.request(`/api/instances/${h.slug}/secrets/s3_bucket`, { method: "DELETE", headers: h.headers });
    expect((await h.request(url)).status).toBe(409);
    await expect(h.link(id)).rejects.toThrow("The file lies in S3: set the agent's secrets");
  });

  test("gets the public address that the policy names", async () => {
    const h = await filesHarness();
    h.services.policies.set({ ...h.services.policies.values, publicAddress: "https://agents.example.com" });
    expect((await h.save()).url).toMatch(/^https:\/\/agents\.example\.com\/files\//);
  });

  test("has a harmless name, the type that its content says, and at most 20 MB", async () => {
    const h = await filesHarness();
    expect(await h.save({ name: "../\0a/\u202eb.txt", mime: "image/png" })).toMatchObject({
      name: "b.txt",
      mime: "application/octet-stream",
    });
    expect(await h.save({ name: "", mime: "x" })).toMatchObject({ name: "file" });
    const bytes = new Uint8Array(20 * 1024 * 1024 + 1);
    await expect(h.save({ bytes })).rejects.toMatchObject({ status: 413, message: "A file may have at most 20 MB" });
  });

  test("needs a stored conversation of its agent, and storage for files", async () => {
    const h = await filesHarness({ store: "none" });
    await expect(h.save({}, null)).rejects.toThrow("this one is not stored, because its request has no chat_id");
    await expect(h.save({}, newId())).rejects.toMatchObject({ status: 404 });
    await expect(h.save()).rejects.toThrow("There is nowhere to store files: set the agent's secrets s3_region");
    expect(await h.rows()).toEqual([]);
  });
});

describe("a new link", () => {
  test("is made for a file of the same conversation, whatever its origin", async () => {
    const h = await filesHarness();
    const attached = await h.store();
    const linked = await h.link(attached.id);
    expect(linked).toMatchObject({ id: attached.id, name: "note.txt", size: 3 });
    expect(await (await h.request(linked.url)).text()).toBe("tea");
  });

  test("is made for no other file", async () => {
    const h = await filesHarness();
    const elsewhere = await h.store({ conversation: await h.conversation() });
    const deleting = await h.store();
    await h.db.update(files).set({ status: "deleting" }).where(eq(files.id, deleting.id));
    for (const id of [elsewhere.id, deleting.id, newId(), "", "x\0", "../note.txt", "a".repeat(5_000)]) {
      await expect(h.link(id)).rejects.toMatchObject({ status: 404, message: "This conversation has no such file" });
    }
    await expect(h.link(elsewhere.id, null)).rejects.toThrow("no chat_id");
  });
});

describe("GET /files/{id}", () => {
  const parts = (url: string) => {
    const { pathname, searchParams } = new URL(url);
    const [expires = "", signature = ""] = [searchParams.get("expires"), searchParams.get("signature")].map(String);
    return { path: pathname, expires, signature };
  };

  test("lets a browser do nothing with a file, as the panel's own address does", async () => {
    const h = await filesHarness();
    const { url, id } = await h.save({ name: "a.html", mime: "text/html" });
    const shown = (answer: Response) =>
      Object.fromEntries([...answer.headers].filter(([name]) => name !== "x-request-id"));
    const linked = shown(await h.request(url));
    expect(linked).toMatchObject({
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
      "content-disposition": "attachment; filename*=UTF-8''a.html",
    });
    const guarded = shown(await h.read(`/api/files/${id}`));
    for (const name of Object.keys(guarded).filter((one) => one.startsWith("x-ratelimit"))) delete guarded[name];
    expect(linked).toEqual(guarded);
  });

  test("answers HEAD, 304 and, for other methods, 405", async () => {
    const h = await filesHarness();
    const { url } = await h.save();
    const head = await h.request(url, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "4", ""]);
    const known = await h.request(url, { headers: { "If-None-Match": head.headers.get("etag") ?? "" } });
    expect([known.status, await known.text()]).toEqual([304, ""]);
    const post = await h.request(url, { method: "POST" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("knows no link that differs from a genuine one in anything", async () => {
    const h = await filesHarness();
    const { path, expires, signature } = parts((await h.save()).url);
    const other = parts((await h.save()).url);
    const flipped = (signature.startsWith("0") ? "1" : "0") + signature.slice(1);
    const wrong = [
      `${other.path}?expires=${expires}&signature=${signature}`,
      `${path}?expires=${expires}&signature=${other.signature}`,
      `${path}?expires=${Number(expires) + 1}&signature=${signature}`,
      `${path}?expires=0${expires}&signature=${signature}`,
      `${path}?expires=${expires}.0&signature=${signature}`,
      `${path}?expires=${expires}%00&signature=${signature}`,
      `${path}?expires=1e9&signature=${signature}`,
      `${path}?expires=-1&signature=${signature}`,
      `${path}?expires=${"9".repeat(400)}&signature=${signature}`,
      `${path}?expires=${expires}&signature=${flipped}`,
      `${path}?expires=${expires}&signature=${signature.toUpperCase()}`,
      `${path}?expires=${expires}&signature=${signature.slice(1)}`,
      `${path}?expires=${expires}&signature=${signature}00`,
      `${path}?expires=${expires}&signature=`,
      `${path}?expires=${expires}&signature=${"a".repeat(10_000)}`,
      `${path}?expires=${expires}&expires=${expires}&signature=${signature}`,
      `${path}?expires=${expires}&signature=${signature}&signature=${flipped}`,
      `${path}?expires[]=${expires}&signature[]=${signature}`,
      `${path}?expires=${expires}`,
      `${path}?signature=${signature}`,
      path,
      `/files/%00?expires=${expires}&signature=${signature}`,
      `/files/..%2F..%2Fkey?expires=${expires}&signature=${signature}`,
      `${path.toUpperCase().replace("FILES", "files")}?expires=${expires}&signature=${signature}`,
    ];
    for (const url of wrong) {
      const answer = await h.request(url);
      const { message } = (await answer.json()) as { message: string };
      expect([url, answer.status, message]).toEqual([url, 404, "File not found"]);
    }
    expect((await h.request(`${path}?expires=${expires}&signature=${signature}`)).status).toBe(200);
  });

  test("knows no link after its day", async () => {
    const h = await filesHarness();
    const { url, id } = await h.save();
    await h.clock.advance(day - 1000);
    expect((await h.request(url)).status).toBe(200);
    const later = await h.link(id);
    await h.clock.advance(1000);
    expect((await h.request(url)).status).toBe(404);
    expect((await h.request(later.url)).status).toBe(200);
  });

  test("knows no link of another installation, or of a fingerprint; one of an earlier key is read until it expires", async () => {
    const old = new Uint8Array(32).fill(7);
    const h = await filesHarness();
    const { url, id } = await h.save();
    const fresh = new Uint8Array(32).fill(8);
    const read = async (keys: Uint8Array<ArrayBuffer>[]) =>
      (await another(h, { cipher: await createCipher(keys) }).request(url)).status;
    expect(await read([old])).toBe(200);
    expect(await read([fresh, old])).toBe(200);
    expect(await read([fresh])).toBe(404);
    const { expires } = parts(url);
    const cipher = await createCipher([old]);
    const [mark] = await cipher.fingerprints(`file ${id} ${expires}`);
    const forged = Buffer.from(mark ?? []).toString("hex");
    expect((await h.request(`/files/${id}?expires=${expires}&signature=${forged}`)).status).toBe(404);
  });

  test("ends at once with the conversation, and where the files have left the machine", async () => {
    const h = await filesHarness();
    const { url } = await h.save();
    const moved = another(h, { files: { ...h.ports, directory: null } });
    expect((await moved.request(url)).status).toBe(409);
    await h.services.database.transaction((tx) => deleteFilesOf(tx, h.services, { conversationId: h.home.id }));
    expect((await h.request(url)).status).toBe(404);
    const kept = await h.save();
    await h.db.delete(conversations);
    expect((await h.request(kept.url)).status).toBe(404);
  });

  test("counts calls by their address, good ones and bad ones", async () => {
    const h = await filesHarness();
    const { url } = await h.save();
    h.services.policies.set({ ...h.services.policies.values, rateLimit: { limit: 2, windowSeconds: 60 } });
    const statuses = [];
    for (const asked of [url, url, url, "/files/x", "/files/x", "/files/x"])
      statuses.push((await h.request(asked)).status);
    expect(statuses).toEqual([200, 200, 429, 404, 404, 429]);
  });

  test("writes no signature into the log", async () => {
    const h = await filesHarness();
    const { url } = await h.save();
    await h.request(url);
    expect(h.logs.join()).toContain(parts(url).path);
    expect(h.logs.join()).not.toContain(parts(url).signature);
  });
});
