import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { imageParts } from "../../../src/features/files/index.ts";
import { bytesOf, filesHarness, png } from "./attachments.ts";

const picture = (length: number) => {
  const bytes = new Uint8Array(length);
  bytes.set(png);
  return bytes;
};

test("the pictures of new messages become parts of a message, in order; nothing else does", async () => {
  const h = await filesHarness();
  const first = await h.store({ name: "a.png", bytes: png });
  const text = await h.store({ mime: "image/png", bytes: bytesOf("no picture") });
  const large = await h.store({ bytes: picture(5 * 1024 * 1024 + 1) });
  const second = await h.store({ name: "b.gif", bytes: bytesOf("GIF89a...") });
  const elsewhere = await h.store({ bytes: png, conversation: await h.conversation() });
  const fileIds = [second.id, text.id, newId(), large.id, elsewhere.id, first.id];
  expect(await imageParts(h.services, { conversationId: h.home.id, fileIds })).toEqual([
    { type: "file", filename: "b.gif", mediaType: "image/gif", data: { type: "data", data: bytesOf("GIF89a...") } },
    { type: "file", filename: "a.png", mediaType: "image/png", data: { type: "data", data: png } },
  ]);
  expect(await imageParts(h.services, { conversationId: h.home.id, fileIds: [] })).toEqual([]);
});

test("a model sees eight pictures at most, and the turn continues without unreadable ones", async () => {
  const h = await filesHarness({ store: "s3" });
  const ids: string[] = [];
  for (let index = 0; index < 9; index += 1) ids.push((await h.store({ name: `${index}.png`, bytes: png })).id);
  const fresh = { conversationId: h.home.id, fileIds: ids };
  h.s3.objects.delete(`/acme-files/agent-engine/${ids[1]}`);
  const names = async () => (await imageParts(h.services, fresh)).map(({ filename }) => filename);
  expect(await names()).toEqual(["0.png", "2.png", "3.png", "4.png", "5.png", "6.png", "7.png"]);
  h.s3.state.failing = { status: 500 };
  expect(await names()).toEqual([]);
  expect(h.logs.filter((line) => line.includes("could not be read for the model"))).toHaveLength(8);
});

test("a turn waits 25 seconds for its pictures, and continues without those that hang", async () => {
  const h = await filesHarness();
  const { id } = await h.store({ bytes: png });
  const { directory } = h.services.files;
  if (!directory) throw new Error("There is no directory");
  const asked = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  directory.get = async () => {
    asked.resolve();
    return { bytes: new ReadableStream({ cancel: () => cancelled.resolve() }), size: null };
  };
  const parts = imageParts(h.services, { conversationId: h.home.id, fileIds: [id] });
  await asked.promise;
  await h.clock.advance(25_000);
  expect(await parts).toEqual([]);
  await cancelled.promise;
});
