import { expect, test } from "vitest";
import { albums } from "../../../src/db/schema.ts";
import { reply } from "../../scripted-model.ts";
import { answering, doing } from "./answering.ts";
import { incoming, messengerHarness, storing } from "./messengers.ts";

const photo = (name: string) => ({ ref: name, lastingId: name, name: `${name}.jpg`, mime: "image/jpeg", size: 100 });
const part = (name: string, isMeant: boolean, text = "") =>
  incoming({
    channelId: "-5",
    isPrivate: false,
    sender: "21",
    senderName: "Ann",
    text,
    files: [photo(name)],
    album: { id: "7", isMeant },
  });

test.each([
  ["first", [0, 1, 2]],
  ["in between", [1, 0, 2]],
  ["last", [1, 2, 0]],
])("in a group, the parts of an album go with the one that names the agent, which comes %s", async (_when, order) => {
  const h = await answering(doing(reply("The second.")));
  const parts = [part("a", true, "compare"), part("b", false), part("c", false)];
  // Each part may reach another process.
  for (const index of order) await (await storing(h, h.agent.slug))(...parts.slice(index, index + 1));
  await h.settle();
  await h.idle();
  expect(h.prompts()).toHaveLength(1);
  expect(h.prompts()[0]).toHaveLength(1);
  expect(h.prompts()[0]?.[0]).toMatch(/^Ann \(21\): .*compare/s);
  expect(h.prompts()[0]?.[0]?.match(/A picture came/g)).toHaveLength(3);
  expect(await h.statuses()).toEqual(["done", "done", "done"]);
});

test("an album addressed to no agent is no message, and no part of it stays", async () => {
  const h = await messengerHarness();
  const { db } = h.services.database;
  const store = await storing(h, h.agent.slug);
  await store(part("a", false), part("b", false));
  expect(await h.rows()).toMatchObject({ inbox: [], conversations: [], jobs: [] });
  expect(await db.select().from(albums)).toHaveLength(1);
  const hourMs = 3_600_000;
  await db.update(albums).set({ createdAt: new Date(h.clock.now()) });
  await h.engine.tick();
  expect(await db.select().from(albums)).toHaveLength(1);
  await h.clock.advance(hourMs + 1);
  await h.engine.tick();
  expect(await db.select().from(albums)).toHaveLength(0);
});

test("a part that comes again changes nothing, and that of another album stays apart", async () => {
  const h = await messengerHarness();
  const store = await storing(h, h.agent.slug);
  const first = part("a", true);
  await store(first);
  await store(first);
  await store({ ...part("x", false), album: { id: "8", isMeant: false } });
  expect((await h.rows()).inbox).toHaveLength(1);
});

test("in private an album is one message also where nothing is waited for otherwise", async () => {
  const h = await answering(doing(reply("Nice.")), { agent: { debounceMs: 0 } });
  const store = await storing(h, h.agent.slug);
  const album = { id: "9", isMeant: true };
  await store(incoming({ text: "Look", files: [photo("a")], album }));
  await h.clock.advance(1_000);
  await store(incoming({ text: "", files: [photo("b")], album }));
  await h.settle();
  await h.idle();
  expect(h.prompts()).toHaveLength(1);
  expect(h.prompts()[0]).toHaveLength(1);
  expect(h.prompts()[0]?.[0]).toMatch(/^Look(\n\n\[A picture came[^\]]*\]){2}$/);
});
