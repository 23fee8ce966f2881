import { eq } from "drizzle-orm";
import { onTestFinished } from "vitest";
import { createS3 } from "../../../src/adapters/s3.ts";
import { newId } from "../../../src/core/ids.ts";
import type { PluginFile } from "../../../src/core/plugins/plugin.ts";
import type { Files } from "../../../src/core/ports.ts";
import { agents, conversations, files, jobs } from "../../../src/db/schema.ts";
import { fileJobs } from "../../../src/features/files/delete.ts";
import { type InboundFile, linkPluginFile, savePluginFile, storeFile } from "../../../src/features/files/index.ts";
import { Heartbeat } from "../../../src/jobs/heartbeat.ts";
import { createWorker } from "../../../src/jobs/worker.ts";
import { TestClock } from "../../clock.ts";
import { harness } from "../../harness.ts";
import { s3Server, testBucket } from "../../s3-server.ts";
import { memoryStore } from "../../stored-files.ts";

export const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** The beginning of a PNG, enough to be recognised as one. */
export const png = bytesOf("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0");

const s3Secrets = {
  s3_region: testBucket.region,
  s3_bucket: testBucket.bucket,
  s3_access_key_id: testBucket.accessKeyId,
  s3_secret_access_key: testBucket.secretAccessKey,
};

export type FilesHarness = Awaited<ReturnType<typeof filesHarness>>;

/** An agent that takes attachments, a directory in memory and an S3. `store` is where the agent's files are stored. */
export async function filesHarness({ store = "directory" }: { store?: "directory" | "s3" | "none" } = {}) {
  const clock = new TestClock();
  const s3 = await s3Server(() => clock.now());
  const directory = memoryStore();
  const ports: Files = {
    directory: store === "none" ? null : directory,
    s3: createS3({ clock, endpoint: s3.endpoint }),
  };
  const h = await harness({ files: ports });
  const { db } = h.services.database;
  const { slug, headers } = await h.agent({ attachmentsEnabled: true });
  const [agent] = await db.select().from(agents).where(eq(agents.slug, slug));
  if (!agent) throw new Error("The agent is not there");

  const putSecrets = async (values: Record<string, string>) => {
    const secrets = Object.entries(values).map(([key, value]) => ({ key, value }));
    const { status } = await h.request(`/api/instances/${slug}/secrets`, { method: "PUT", headers, json: { secrets } });
    if (status !== 200) throw new Error(`The secrets were answered with ${status}`);
  };
  if (store === "s3") await putSecrets(s3Secrets);

  const conversation = async (of: { id: string; organizationId: string } = agent) => {
    const id = newId();
    const row = {
      id,
      agentId: of.id,
      organizationId: of.organizationId,
      ref: `${of.id}:web:${id}`,
      subject: "web:ada" as const,
    };
    await db.insert(conversations).values({ ...row, channel: "web", channelId: id });
    return { id };
  };
  const home = await conversation();
  const worker = createWorker({ ...h.services, heartbeat: new Heartbeat(h.services) }, fileJobs(h.services));
  onTestFinished(() => worker.stop(0));

  return {
    ...h,
    db,
    s3,
    ports,
    /** The clock of S3. */
    s3Clock: clock,
    /** The files in the directory. */
    local: directory.objects,
    slug,
    headers,
    agent,
    home,
    conversation,
    putSecrets,
    worker,
    store: (inbound: Partial<InboundFile> = {}) =>
      storeFile(h.services, {
        agent,
        conversation: home,
        name: "note.txt",
        mime: "text/plain",
        bytes: bytesOf("tea"),
        ...inbound,
      }),
    save: (file: Partial<PluginFile> = {}, conversationId: string | null = home.id) =>
      savePluginFile(h.services, {
        agent,
        conversationId,
        file: { name: "report.txt", mime: "text/plain", bytes: bytesOf("done"), ...file },
      }),
    link: (id: string, conversationId: string | null = home.id) =>
      linkPluginFile(h.services, { agent, conversationId, id }),
    read: (url: string, more: Record<string, string> = {}) => h.request(url, { headers: { ...headers, ...more } }),
    deleteAgent: () => h.request(`/api/instances/${slug}`, { method: "DELETE", headers }),
    rows: () => db.select().from(files),
    jobs: () => db.select().from(jobs).where(eq(jobs.kind, "deleteFiles")),
  };
}
