import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { FileTooLarge, type IncomingFile, MessengerError } from "../../../src/core/channels/messengers.ts";
import { EngineError } from "../../../src/core/errors.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, files, inbox } from "../../../src/db/schema.ts";
import { createAttach, type MessageWithFiles } from "../../../src/features/inbox/answer/attachments.ts";
import type { Harness } from "../../harness.ts";
import { filesHarness, png } from "../files/attachments.ts";

type Download = (file: IncomingFile) => Promise<Uint8Array<ArrayBuffer>>;

const utf8 = (text: string) => new TextEncoder().encode(text);
const photo = { ref: "p1", name: "photo.jpg", mime: "image/jpeg", size: 1_000 };
const note = { ref: "n1", name: "notes.txt", mime: "text/plain", size: 20 };
const voice = { ref: "v1", name: "voice.ogg", mime: "audio/ogg", size: 20 };

/** The messenger's files, by `ref`. */
const shelf: Record<string, Uint8Array<ArrayBuffer>> = { p1: png, n1: utf8("milk\neggs"), v1: utf8("OggS") };

/** An agent with a conversation whose messages have files; `download` is the messenger's. */
async function attaching(options: Parameters<typeof filesHarness>[0] = {}) {
  const h = await filesHarness(options);
  const asked: string[] = [];
  const on = { download: (async ({ ref }) => shelf[ref] ?? new Uint8Array()) as Download };
  const account = {
    download: async (file: IncomingFile) => {
      asked.push(file.ref);
      return on.download(file);
    },
  };
  const attach = createAttach(h.services);
  let seq = 0;
  const stored = async (text: string, ...sent: IncomingFile[]): Promise<MessageWithFiles> => {
    const id = newId();
    seq += 1;
    const place = { agentId: h.agent.id, channel: "telegram", conversationId: h.home.id };
    await h.db
      .insert(inbox)
      .values({ id, ...place, providerId: id, seq, sender: "4711", payload: { text, files: sent } });
    return { id, text, files: sent };
  };
  /** The message as stored now. */
  const again = async ({ id }: MessageWithFiles): Promise<MessageWithFiles> => {
    const [row] = await h.db.select().from(inbox).where(eq(inbox.id, id));
    return { id, ...(row?.payload as Omit<MessageWithFiles, "id">) };
  };
  const agent = { id: h.agent.id, slug: "helper", attachmentsEnabled: true };
  const controller = new AbortController();
  const run = (messages: MessageWithFiles[], of: Partial<typeof agent> = {}) =>
    attach({ agent: { ...agent, ...of }, conversation: h.home, account }, messages, controller.signal);
  return { ...h, asked, on, stored, again, run, controller };
}

/** Lets the database and other waits proceed, and the clock with them, until `promise` settles. */
async function settled<T>({ clock }: Pick<Harness, "clock">, promise: Promise<T>, stepMs = 500): Promise<T> {
  let isOver = false;
  promise.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  for (let step = 0; !isOver && step < 500; step += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(stepMs);
  }
  return promise;
}

test("files become attachments, and the model reads of each", async () => {
  const t = await attaching();
  const messages = [await t.stored("What is this?", photo), await t.stored("", note, voice)];
  const { texts, fileIds } = await t.run(messages);
  expect(texts).toEqual([
    "What is this?\n\n[A picture came: photo.jpg.]",
    "[The document notes.txt says:]\nmilk\neggs\n[The end of notes.txt.]\n\n[A recording came: voice.ogg. You can't hear it.]",
  ]);
  const rows = await t.rows();
  expect(rows.map(({ status, conversationId }) => [status, conversationId])).toEqual(
    Array.from({ length: 3 }, () => ["stored", t.home.id]),
  );
  expect(new Set(fileIds)).toEqual(new Set(rows.map(({ id }) => id)));
  const byId = new Map(rows.map((row) => [row.id, row]));
  expect(fileIds.map((id) => byId.get(id)?.name)).toEqual(["photo.jpg", "notes.txt", "voice.ogg"]);
  expect(byId.get(fileIds[0] ?? "")?.mime).toBe("image/png");
});

test("a second attempt stores and asks for nothing twice", async () => {
  const t = await attaching();
  const gone = { ...photo, ref: "gone", name: "gone.jpg" };
  t.on.download = async ({ ref }) => {
    if (ref === "gone") throw new MessengerError("It is gone", { isPermanent: true });
    return shelf[ref] ?? png;
  };
  const message = await t.stored("Look", photo, gone, note);
  const first = await t.run([message]);
  expect(first.texts).toEqual([
    "Look\n\n[A picture came: photo.jpg.]\n\n[The picture gone.jpg could not be loaded.]\n\n[The document notes.txt says:]\nmilk\neggs\n[The end of notes.txt.]",
  ]);
  expect(await t.run([await t.again(message)])).toEqual(first);
  expect(t.asked).toHaveLength(3);
  expect(await t.rows()).toHaveLength(2);
});

test("an agent without attachments is told so, and nothing is loaded", async () => {
  const t = await attaching();
  const { texts, fileIds } = await t.run([await t.stored("", photo, voice)], { attachmentsEnabled: false });
  expect(texts).toEqual([
    "[A picture came, but this agent takes no files.]\n\n[A recording came, but this agent takes no files.]",
  ]);
  expect([fileIds, t.asked]).toEqual([[], []]);
  // Attachments may have been turned off a moment ago.
  await t.db.update(agents).set({ attachmentsEnabled: false }).where(eq(agents.id, t.agent.id));
  expect((await t.run([await t.stored("", photo)])).texts).toEqual([
    "[A picture came, but this agent takes no files.]",
  ]);
  expect(await t.rows()).toEqual([]);
});

test("a file too large is not loaded, whether its header or its bytes say so", async () => {
  const t = await attaching();
  const large = { ...note, name: "a.csv", size: 20 * 1024 * 1024 + 1 };
  t.on.download = async () => {
    throw new FileTooLarge(5);
  };
  const { texts } = await t.run([await t.stored("", large, { ...note, size: null })]);
  expect(texts).toEqual([
    "[The file a.csv is too large to be loaded.]\n\n[The file notes.txt is too large to be loaded.]",
  ]);
  expect(t.asked).toEqual(["n1"]);
});

test("a passing failure is tried again, with the pause that the messenger wants", async () => {
  const t = await attaching();
  const waits: number[] = [];
  let failures = 2;
  t.on.download = async () => {
    waits.push(t.clock.now());
    failures -= 1;
    if (failures >= 0) throw new MessengerError("Later", { retryAfterMs: 5_000 });
    return png;
  };
  const { texts } = await settled(t, t.run([await t.stored("", photo)]));
  expect(texts).toEqual(["[A picture came: photo.jpg.]"]);
  const [first = 0, second = 0, third = 0] = waits;
  expect([second - first, third - second].every((ms) => ms >= 5_000 && ms < 7_000)).toBe(true);
});

test("a failure that lasts ends in words after three attempts; another turn may try again", async () => {
  const t = await attaching();
  t.on.download = async () => {
    throw new MessengerError("Telegram cannot be reached (ECONNREFUSED)");
  };
  const message = await t.stored("Hi", photo);
  expect((await settled(t, t.run([message]))).texts).toEqual(["Hi\n\n[The picture photo.jpg could not be loaded.]"]);
  expect(t.asked).toHaveLength(3);
  expect(t.logs.filter((line) => line.includes("ECONNREFUSED"))).toHaveLength(1);
  t.on.download = async () => png;
  expect((await t.run([await t.again(message)])).texts).toEqual(["Hi\n\n[A picture came: photo.jpg.]"]);
});

test("files hold an answer up for 25 seconds at most; one that comes later is there for the next attempt", async () => {
  const t = await attaching();
  const hanging = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  t.on.download = ({ ref }) => (ref === "p1" ? hanging.promise : Promise.resolve(utf8("tea")));
  const message = await t.stored("Hi", photo, note);
  const began = t.clock.now();
  const { texts } = await settled(t, t.run([message]));
  expect(texts).toEqual([
    "Hi\n\n[The picture photo.jpg could not be loaded.]\n\n[The document notes.txt says:]\ntea\n[The end of notes.txt.]",
  ]);
  expect(t.clock.now() - began).toBeLessThanOrEqual(26_000);
  hanging.resolve(png);
  await expect.poll(async () => (await t.again(message)).files[0]?.fate?.kind).toBe("stored");
  expect((await t.run([await t.again(message)])).texts[0]).toContain("[A picture came: photo.jpg.]");
  expect(await t.rows()).toHaveLength(2);
});

test("an abort ends it at once", async () => {
  const t = await attaching();
  t.on.download = () => new Promise(() => {});
  const running = t.run([await t.stored("Hi", photo)]);
  t.controller.abort(new Error("Newer messages came"));
  await expect(running).rejects.toThrow("Newer messages came");
});

test("a few files are loaded at a time, and a turn takes so many only", async () => {
  const t = await attaching();
  let [now, most] = [0, 0];
  t.on.download = async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return utf8("OggS");
  };
  const many = Array.from({ length: 22 }, (_, at) => ({ ...voice, ref: `v${at}`, name: `${at}.ogg` }));
  const { texts, fileIds } = await t.run([await t.stored("", ...many)]);
  expect(most).toBe(6);
  expect(fileIds).toHaveLength(20);
  expect(texts[0]?.split("\n\n").slice(-3)).toEqual([
    "[A recording came: 19.ogg. You can't hear it.]",
    "[The recording 20.ogg was left out: too many files came at once.]",
    "[The recording 21.ogg was left out: too many files came at once.]",
  ]);
  const large = Array.from({ length: 3 }, (_, at) => ({ ...voice, name: `${at}.ogg`, size: 15 * 1024 * 1024 }));
  expect((await t.run([await t.stored("", ...large)])).fileIds).toHaveLength(2);
});

test("a turn loads 40 MB only, also from a messenger that tells no sizes beforehand", async () => {
  const t = await attaching();
  t.on.download = async () => new Uint8Array(15 * 1024 * 1024);
  const unknown = Array.from({ length: 4 }, (_, at) => ({ ...voice, name: `${at}.ogg`, size: null }));
  const { texts, fileIds } = await t.run([await t.stored("", ...unknown)]);
  expect(fileIds).toHaveLength(2);
  expect(texts[0]?.match(/was left out: too many files came at once/g)).toHaveLength(2);
  expect(await t.rows()).toHaveLength(2);
});

test("a file counts once among the 40 MB of a turn, however often its storage fails", async () => {
  const t = await attaching();
  t.on.download = async () => new Uint8Array(15 * 1024 * 1024);
  const { directory } = t.services.files;
  if (!directory) throw new Error("There is no directory");
  const put = directory.put.bind(directory);
  let failures = 2;
  directory.put = async (...given) => {
    if (failures-- > 0) throw new EngineError("provider-failed", "The disk is busy");
    return put(...given);
  };
  const { texts, fileIds } = await settled(t, t.run([await t.stored("", { ...voice, size: null })]));
  expect(texts).toEqual(["[A recording came: voice.ogg. You can't hear it.]"]);
  expect(fileIds).toHaveLength(1);
});

test("files that were stored in an earlier attempt count among the 40 MB, also without a size beforehand", async () => {
  const t = await attaching();
  const gone = { ...voice, ref: "gone", size: null };
  t.on.download = async ({ ref }) => {
    if (ref === "gone" && !isBack) throw new EngineError("conflict", "Not yet");
    return new Uint8Array(15 * 1024 * 1024);
  };
  let isBack = false;
  const unknown = { ...voice, size: null };
  const message = await t.stored("", unknown, unknown, gone);
  expect((await t.run([message])).fileIds).toHaveLength(2);
  isBack = true;
  const { texts, fileIds } = await t.run([await t.again(message)]);
  expect(fileIds).toHaveLength(2);
  expect(texts[0]).toContain("was left out: too many files came at once");
});

test("without storage for files, the agent is told and the log says why", async () => {
  const t = await attaching({ store: "none" });
  expect((await t.run([await t.stored("", photo)])).texts).toEqual(["[The picture photo.jpg could not be loaded.]"]);
  expect(t.logs.some((line) => line.includes("There is nowhere to store files"))).toBe(true);
  expect(t.asked).toHaveLength(1);
});

test("a file for which no space is left is words that say whose files have it, until there is space", async () => {
  const t = await attaching();
  const { policies } = t.services;
  const allow = (total: number, perUser: number) =>
    policies.set({ ...policies.values, fileMegabytes: { total, perUser } });
  allow(2, 1);
  t.on.download = async () => new Uint8Array(1024 * 1024);
  await t.run([await t.stored("", voice)]);
  const message = await t.stored("Listen", voice, note);
  const refused = (why: string) => [
    `Listen\n\n[The recording voice.ogg was not taken: ${why}.]\n\n[The file notes.txt was not taken: ${why}.]`,
  ];
  expect(await t.run([message])).toEqual({
    texts: refused("the files of this person or group have all the space they may have"),
    fileIds: [],
  });
  expect(t.logs.filter((line) => line.includes("the policy fileMegabytes"))).toHaveLength(2);
  allow(1, 2);
  expect((await t.run([await t.again(message)])).texts).toEqual(
    refused("the files of this agent have all the space they may have"),
  );
  expect(await t.rows()).toHaveLength(1);
  allow(3, 3);
  expect((await t.run([await t.again(message)])).fileIds).toHaveLength(2);
});

test("a conversation that was deleted meanwhile is not answered", async () => {
  const t = await attaching();
  const message = await t.stored("Hi", photo);
  await t.db.delete(conversations).where(eq(conversations.id, t.home.id));
  await expect(t.run([message])).rejects.toBeInstanceOf(EngineError);
  expect(await t.db.select().from(files)).toEqual([]);
});
