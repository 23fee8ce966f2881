import { and, eq } from "drizzle-orm";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createCipher } from "../../../src/core/credentials/cipher.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, files, jobs, secrets } from "../../../src/db/schema.ts";
import { deleteFilesOf, fileJobs } from "../../../src/features/files/delete.ts";
import { createFileSweep } from "../../../src/features/files/sweep.ts";
import { inspectSecrets, rotateSecrets } from "../../../src/features/secrets/index.ts";
import { secretPlace } from "../../../src/features/secrets/rules.ts";
import { Heartbeat } from "../../../src/jobs/heartbeat.ts";
import { createWorker } from "../../../src/jobs/worker.ts";
import { plainText } from "../../plain-text.ts";
import { testBucket } from "../../s3-server.ts";
import { type FilesHarness, filesHarness } from "./attachments.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const deleteConversation = (h: FilesHarness, conversationId = h.home.id) =>
  h.services.database.transaction(async (tx) => {
    const count = await deleteFilesOf(tx, h.services, { conversationId });
    await tx.delete(conversations).where(eq(conversations.id, conversationId));
    return count;
  });

describe("an agent's files", () => {
  test.each(["directory", "s3"] as const)("go with it (%s)", async (store) => {
    const h = await filesHarness({ store });
    await h.store();
    await h.store({ conversation: await h.conversation() });
    expect((await h.deleteAgent()).status).toBe(200);
    await h.worker.work();
    expect([h.local.size, h.s3.objects.size]).toEqual([0, 0]);
    expect(await h.rows()).toEqual([]);
    expect(await h.jobs()).toEqual([]);
  });

  test("are deleted with its keys, which are deleted with it, however long S3 fails", async () => {
    const h = await filesHarness({ store: "s3" });
    await h.store();
    h.s3.state.failing = { status: 503, code: "SlowDown" };
    expect((await h.deleteAgent()).status).toBe(200);
    for (let hours = 0; hours < 24; hours += 1) {
      await h.worker.work();
      await h.clock.jump(hourMs);
    }
    await h.worker.work();
    const [job] = await h.jobs();
    expect(job).toMatchObject({ status: "pending", lastError: "The file storage answered 503 SlowDown" });
    expect(job?.attempts).toBeGreaterThan(20);
    await h.clock.jump(hourMs);
    expect(h.s3.objects.size).toBe(1);
    h.s3.state.failing = null;
    await h.worker.work();
    expect(h.s3.objects.size).toBe(0);
    expect(await h.rows()).toEqual([]);
    expect(await h.jobs()).toEqual([]);
  });

  test("are deleted by keys that were sealed anew meanwhile", async () => {
    const h = await filesHarness({ store: "s3" });
    await h.store();
    h.s3.state.failing = { status: 503, code: "SlowDown" };
    await h.deleteAgent();
    const keys = [new Uint8Array(32).fill(8), new Uint8Array(32).fill(7)];
    const both = { ...h.services, cipher: await createCipher(keys) };
    const query: typeof both.database.query = async (text, parameters) => {
      const rows = await both.database.query<object>(text, parameters);
      // The job runs between its read and its write by the rotation.
      if (/^select .* from jobs/.test(plainText(text))) await h.worker.work();
      return rows as never;
    };
    expect(await rotateSecrets({ ...both, database: { ...both.database, query } })).toBe(1);
    expect(await inspectSecrets(both)).toMatchObject({ sealed: 1, older: 0 });
    await h.worker.stop(0);
    const worker = createWorker(
      { ...both, heartbeat: new Heartbeat(both) },
      fileJobs({ ...both, cipher: await createCipher(keys.slice(0, 1)) }),
    );
    onTestFinished(() => worker.stop(0));
    h.s3.state.failing = null;
    await h.clock.jump(hourMs);
    await worker.work();
    expect([h.s3.objects.size, await h.jobs()]).toEqual([0, []]);
  });

  test("leave no key in clear, neither in the job nor in the log", async () => {
    const h = await filesHarness({ store: "s3" });
    await h.store();
    h.s3.state.failing = { status: 403, code: "InvalidAccessKeyId" };
    await h.deleteAgent();
    await h.worker.work();
    const told = JSON.stringify(await h.jobs()) + h.logs.join("");
    expect(told).toContain("InvalidAccessKeyId");
    expect(told).not.toMatch(/AKIAIOSFODNN7EXAMPLE|wJalrXUtnFEMI/);
  });

  test("do not open under the keys of another job", async () => {
    const h = await filesHarness({ store: "s3" });
    await h.store();
    await h.store({ conversation: await h.conversation() });
    await deleteConversation(h);
    await h.deleteAgent();
    const [one, other] = await h.jobs();
    const swapped = { ...(one?.payload as object), keys: (other?.payload as { keys: object }).keys };
    await h.db
      .update(jobs)
      .set({ payload: swapped })
      .where(eq(jobs.id, one?.id ?? ""));
    await h.worker.work();
    expect((await h.jobs()).map(({ lastError }) => lastError)).toEqual(["A stored secret does not open with its key"]);
    expect(h.s3.objects.size).toBe(1);
  });

  test("that S3 has lost already count as deleted", async () => {
    const h = await filesHarness({ store: "s3" });
    await h.store();
    await h.deleteAgent();
    h.s3.state.failing = { status: 404, code: "NoSuchBucket" };
    await h.worker.work();
    expect(await h.rows()).toEqual([]);
    expect(await h.jobs()).toEqual([]);
  });

  test("keep neither it nor a conversation while a secret of the bucket, from an older release, can be none", async () => {
    const h = await filesHarness({ store: "s3" });
    await h.store();
    await h.store({ conversation: await h.conversation() });
    const isKeyId = and(eq(secrets.agentId, h.agent.id), eq(secrets.key, "s3_access_key_id"));
    const sealed = await h.services.cipher.seal("no key id", secretPlace(h.agent.id, "s3_access_key_id"));
    await h.db.update(secrets).set(sealed).where(isKeyId);
    expect(await deleteConversation(h)).toBe(1);
    expect(await h.jobs()).toEqual([]);
    await h.putSecrets({ s3_access_key_id: testBucket.accessKeyId });
    await createFileSweep(h.services)();
    await h.worker.work();
    expect(h.s3.objects.size).toBe(1);
    await h.db.update(secrets).set(sealed).where(isKeyId);
    expect((await h.deleteAgent()).status).toBe(200);
  });

  test("stay when its deletion does not happen", async () => {
    const h = await filesHarness();
    const { url } = await h.store();
    const rollback = h.services.database.transaction(async (tx) => {
      await deleteFilesOf(tx, h.services, { agentId: h.agent.id });
      throw new Error("no");
    });
    await expect(rollback).rejects.toThrow("no");
    await h.worker.work();
    expect((await h.read(url)).status).toBe(200);
  });

  test("that come in while it goes are deleted or refused, and none is left", async () => {
    const h = await filesHarness({ store: "s3" });
    const stores = Array.from({ length: 20 }, () => h.store());
    await stores[0];
    const [deleted, ...stored] = await Promise.allSettled([h.deleteAgent(), ...stores]);
    expect(deleted).toMatchObject({ value: { status: 200 } });
    const refusals = stored.flatMap((one) => (one.status === "rejected" ? [one.reason.message] : []));
    // The agent's secrets are deleted with it, so that a late file may find another storage than the bucket.
    expect(refusals.filter((message) => message !== "Conversation not found")).toEqual([]);
    await h.worker.work();
    expect([h.local.size, h.s3.objects.size]).toEqual([0, 0]);
    expect(await h.rows()).toEqual([]);
  });

  test("are many: 250 take three jobs, and one that can't be deleted keeps no other", async () => {
    const h = await filesHarness({ store: "s3" });
    const first = await h.store();
    const [row] = await h.rows();
    if (!row) throw new Error("Nothing was stored");
    const copies = Array.from({ length: 249 }, (_, index) => ({
      ...row,
      id: `${row.id.slice(0, -3)}${index.toString(16).padStart(3, "0")}`,
      storageKey: `eu-central-1/acme-files/copy-${index}`,
    })).filter(({ id }) => id !== row.id);
    await h.db.insert(files).values(copies);
    await h.db.update(files).set({ storageKey: "nowhere" }).where(eq(files.id, first.id));
    await h.deleteAgent();
    expect(await h.jobs()).toHaveLength(3);
    await h.worker.work();
    expect((await h.rows()).map(({ id }) => id)).toEqual([first.id]);
    expect(await h.jobs()).toMatchObject([{ attempts: 1, lastError: "A file has no place in S3" }]);
  });
});

describe("a conversation's files", () => {
  test("go with it, and no others", async () => {
    const h = await filesHarness();
    await h.store();
    const kept = await h.store({ conversation: await h.conversation() });
    expect(await deleteConversation(h)).toBe(1);
    expect(await deleteConversation(h)).toBe(0);
    await h.worker.work();
    expect([...h.local.keys()]).toEqual([kept.id]);
    expect((await h.read(kept.url)).status).toBe(200);
  });

  test.each([
    true,
    false,
  ])("that are on their way in when it goes are not left behind, the storage at hand: %s", async (atHand) => {
    const h = await filesHarness();
    const { directory } = h.services.files;
    if (!directory) throw new Error("There is no directory");
    const put = directory.put;
    vi.spyOn(directory, "put").mockImplementationOnce(async (...file) => {
      await deleteConversation(h);
      await h.worker.work();
      await put(...file);
      if (!atHand) vi.spyOn(directory, "delete").mockRejectedValueOnce(new Error("The disk is away"));
    });
    await expect(h.store()).rejects.toThrow(atHand ? "Conversation not found" : "The disk is away");
    await h.clock.jump(hourMs);
    await h.worker.work();
    expect(h.local.size).toBe(0);
    expect(await h.rows()).toEqual([]);
    expect(await h.jobs()).toEqual([]);
  });
});

test("files lose their owner as they are marked, so that its deletion does not write them again", async () => {
  const h = await filesHarness();
  await h.store();
  const other = await h.conversation();
  await h.store({ conversation: other });
  const marked = (owner: Parameters<typeof deleteFilesOf>[2]) =>
    h.services.database.transaction(async (tx) => {
      await deleteFilesOf(tx, h.services, owner);
      return tx.select().from(files).where(eq(files.status, "deleting"));
    });
  expect(await marked({ conversationId: other.id })).toMatchObject([{ agentId: h.agent.id, conversationId: null }]);
  await h.db.delete(files).where(eq(files.status, "deleting"));
  expect(await marked({ agentId: h.agent.id })).toMatchObject([{ agentId: null, conversationId: null }]);
});

describe("the sweep", () => {
  test("deletes after an hour what was never stored in full", async () => {
    const h = await filesHarness();
    const whole = await h.store();
    const half = await h.store();
    await h.db.update(files).set({ status: "pending" }).where(eq(files.id, half.id));
    await h.clock.jump(hourMs - minuteMs);
    await h.engine.tick();
    expect(h.local.size).toBe(2);
    await h.clock.jump(11 * minuteMs);
    await h.engine.tick();
    await h.worker.work();
    // The engine's own worker may have been first, and may still run.
    await expect.poll(async () => (await h.rows()).map(({ id }) => id)).toEqual([whole.id]);
    expect([...h.local.keys()]).toEqual([whole.id]);
  });

  test("attends to what was marked without a job, once", async () => {
    const h = await filesHarness({ store: "s3" });
    await h.store();
    await h.db.update(files).set({ status: "deleting" });
    h.s3.state.failing = { status: 500 };
    const sweep = createFileSweep(h.services);
    await sweep();
    await h.worker.work();
    await h.clock.jump(10 * minuteMs);
    await sweep();
    // Moving the clock would end an attempt that still runs.
    await h.worker.work();
    expect(await h.jobs()).toHaveLength(1);
    h.s3.state.failing = null;
    await h.clock.jump(10 * minuteMs);
    await h.worker.work();
    expect(await h.rows()).toEqual([]);
    expect(h.s3.objects.size).toBe(0);
  });

  test("gives each organization a job of its own", async () => {
    const h = await filesHarness();
    await h.store();
    await h.store();
    const other = newId();
    await h.db.update(files).set({ status: "deleting", agentId: null });
    const { id } = await h.store();
    await h.db.update(files).set({ status: "deleting", organizationId: other }).where(eq(files.id, id));
    await h.store();
    await deleteConversation(h);
    await createFileSweep(h.services)();
    const owners = (await h.jobs()).map(({ organizationId }) => organizationId);
    expect(owners.toSorted()).toEqual([h.agent.organizationId, h.agent.organizationId, other].toSorted());
  });

  test("waits for the keys of an agent that lost them, and says what a deleted one leaves in its bucket", async () => {
    const h = await filesHarness({ store: "s3" });
    const { id } = await h.store();
    await h.request(`/api/instances/${h.slug}/secrets/s3_bucket`, { method: "DELETE", headers: h.headers });
    await deleteConversation(h);
    await h.engine.tick();
    expect(await h.rows()).toMatchObject([{ id, status: "deleting" }]);
    expect(await h.jobs()).toEqual([]);
    await h.db.delete(agents);
    await h.clock.jump(10 * minuteMs);
    await h.engine.tick();
    expect(await h.rows()).toEqual([]);
    expect(h.logs.some((line) => line.includes("stay in its S3 bucket") && line.includes(id))).toBe(true);
  });
});
