import { expect, test } from "vitest";
import { finish, reply, toolCall } from "../../scripted-model.ts";
import { answering, doing } from "./answering.ts";
import { incoming, messengerHarness, privateUpdate, storing } from "./messengers.ts";

type Fields = Record<string, unknown>;

/** Telegram's updates about an edit, and about a reaction. */
function edited({ message, update_id }: ReturnType<typeof privateUpdate>, at: number, more: Fields = {}) {
  return { update_id, edited_message: { ...message, edit_date: message.date + at, ...more } };
}

test("a reaction on a message, which Telegram tells as an edit, does not run its tools again", async () => {
  const calling = { parts: [toolCall("c1", "current_time"), finish("tool-calls")] };
  const h = await answering(doing(calling, reply("Ordered.")));
  const order = privateUpdate("One pizza", 1);
  await h.telegram(order);
  await h.settle();
  await h.idle();
  await h.telegram(edited(order, 5));
  await h.settle();
  expect(h.model.calls).toHaveLength(2);
  expect(await h.statuses()).toEqual(["done"]);
});

test("a reaction is compared with the newest version, and taking an edit back is an edit", async () => {
  const h = await messengerHarness();
  const first = privateUpdate("By Thursday", 1);
  await h.telegram(first);
  await h.telegram(edited(first, 5, { text: "By Friday" }));
  await h.telegram(edited(first, 6, { text: "By Friday" }));
  await h.telegram(edited(first, 7, { text: "By Thursday" }));
  await h.telegram(edited(first, 8, { text: " By Thursday\n" }));
  expect((await h.rows()).inbox.map(({ payload }) => (payload as Fields).text)).toEqual([
    "By Thursday",
    "By Friday",
    "By Thursday",
  ]);
});

test("a reaction in one group with its message, as polls bring them, is no message", async () => {
  const h = await messengerHarness();
  const store = await storing(h, h.agent.slug);
  const message = incoming({ text: "One" });
  const edit = { ...message, providerId: `${message.providerId}:5`, edits: message.providerId };
  await store(message, edit, { ...edit, providerId: `${message.providerId}:6`, text: "Two" });
  expect((await h.rows()).inbox.map(({ payload }) => (payload as Fields).text)).toEqual(["One", "Two"]);
});

test("a picture stays the same under another id for its download, and another picture is an edit", async () => {
  const h = await messengerHarness();
  const photo = (id: string, unique: string) => ({
    text: undefined,
    caption: "Is it ripe?",
    photo: [{ file_id: id, file_unique_id: unique, width: 90, height: 90, file_size: 100 }],
  });
  const { message, update_id } = privateUpdate("", 1);
  await h.telegram({ update_id, message: { ...message, ...photo("A1", "u1") } });
  await h.telegram(edited({ message, update_id }, 5, photo("A2", "u1")));
  expect((await h.rows()).inbox).toHaveLength(1);
  await h.telegram(edited({ message, update_id }, 6, photo("B1", "u2")));
  expect((await h.rows()).inbox).toHaveLength(2);
});

test("a reaction on a message that the inbox holds no more is no message; a late mention by edit is one", async () => {
  const h = await messengerHarness();
  const old = privateUpdate("One pizza", 1);
  await h.clock.advance(73 * 3_600_000);
  expect((await h.telegram(edited(old, 5))).status).toBe(200);
  expect((await h.rows()).inbox).toEqual([]);
  const recent = privateUpdate("One pizza", 2);
  recent.message.date = h.clock.now() / 1_000 - 3_600;
  await h.telegram(edited(recent, 5));
  expect((await h.rows()).inbox).toHaveLength(1);
});
