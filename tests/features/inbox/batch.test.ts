import fc from "fast-check";
import { expect, test } from "vitest";
import { batchOf, mostText, onlyName, type PendingMessage } from "../../../src/features/inbox/answer/batch.ts";

const message = (seq: number, fields: Partial<PendingMessage> = {}): PendingMessage => ({
  id: `id-${seq}`,
  seq,
  providerId: `p-${seq}`,
  sender: "1",
  restarts: 0,
  attempts: 0,
  text: `text ${seq}`,
  files: [],
  senderName: "Ada",
  edits: null,
  isPrivate: true,
  quotes: [],
  album: null,
  ...fields,
});

const texts = ({ messages }: ReturnType<typeof batchOf>) => messages.map(({ text }) => text);

test("a correction replaces its message, also when it came first", () => {
  const batch = batchOf(
    [message(1, { edits: "p-2", text: "new" }), message(2), message(3), message(4, { edits: "gone", text: "late" })],
    false,
  );
  expect(texts(batch)).toEqual(["new", "text 3", "late"]);
  expect(batch.ids.toSorted()).toEqual(["id-1", "id-2", "id-3", "id-4"]);
  expect(batch.leaves).toBe(false);
});

test("a correction brings its files, which are noted with it; of one that stayed it is known what became of it", () => {
  const file = (ref: string) => ({ ref, name: `${ref}.png`, mime: "image/png", size: null });
  const stored = { kind: "stored", id: "f-1", mime: "image/png", size: 1 } as const;
  const { messages, ids } = batchOf(
    [
      message(1, { files: [{ ...file("a"), fate: stored }, file("b")] }),
      message(2, { edits: "p-1", text: "one", files: [file("b")] }),
      message(3, { edits: "p-1", text: "two", files: [file("a"), file("c")] }),
      message(4, { files: [file("d")] }),
    ],
    false,
  );
  expect(messages.map(({ id, text, files }) => [id, text, files.map(({ ref }) => ref)])).toEqual([
    ["id-3", "two", ["a", "c"]],
    ["id-4", "text 4", ["d"]],
  ]);
  expect(ids.toSorted()).toEqual(["id-1", "id-2", "id-3", "id-4"]);
  const kept = batchOf(
    [message(1, { files: [{ ...file("a"), fate: stored }] }), message(2, { edits: "p-1", files: [file("a")] })],
    false,
  );
  expect(kept.messages[0].files).toEqual([{ ...file("a"), fate: stored }]);
});

test("alone, the oldest message goes with its corrections", () => {
  const batch = batchOf([message(1), message(2), message(3, { edits: "p-1", text: "one" })], true);
  expect([texts(batch), batch.ids, batch.leaves]).toEqual([["one"], ["id-1", "id-3"], true]);
});

test("a turn takes so much text, or one message that alone is longer", () => {
  const long = "x".repeat(mostText);
  expect(texts(batchOf([message(1), message(2, { text: long })], false))).toEqual(["text 1"]);
  expect(texts(batchOf([message(1, { text: `${long}x` }), message(2)], false))).toHaveLength(1);
});

test("each message is answered by one batch after the other, whatever corrects what", () => {
  const edits = fc.array(fc.option(fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 130 });
  fc.assert(
    fc.property(edits, fc.boolean(), (list, alone) => {
      let waiting = list.map((target, index) => message(index + 1, target === null ? {} : { edits: `p-${target}` }));
      const seen: string[] = [];
      while (waiting[0]) {
        const { ids, leaves } = batchOf(waiting as [PendingMessage, ...PendingMessage[]], alone);
        expect(ids.length).toBeGreaterThan(0);
        expect(leaves).toBe(ids.length < waiting.length);
        seen.push(...ids);
        waiting = waiting.filter(({ id }) => !ids.includes(id));
      }
      expect(seen.toSorted()).toEqual(list.map((_, index) => `id-${index + 1}`).toSorted());
    }),
  );
});

test("the turn knows a name where one person wrote", () => {
  const [ada, bob] = [message(1), message(2, { sender: "2", senderName: null })];
  expect([onlyName([ada]), onlyName([ada, bob])]).toEqual(["Ada", null]);
});
