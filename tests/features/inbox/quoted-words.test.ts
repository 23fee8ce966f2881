import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { outbox } from "../../../src/db/schema.ts";
import { reply } from "../../scripted-model.ts";
import { answering } from "./answering.ts";
import { incoming, storing } from "./messengers.ts";

const person = { sender: "+393331234567", channelId: "+393331234567" };
const answer = (messageId: string, author: "agent" | "sender", fields = {}) =>
  incoming({
    ...person,
    text: "Not this one",
    quotes: [{ kind: "reply", author, text: "", passage: null, messageId }],
    ...fields,
  });

async function onWhatsApp() {
  const h = await answering(() => reply("Your order 7 ships on Monday."), { names: ["whatsapp"] });
  const store = await storing(h, h.agent.slug, "whatsapp");
  await store(incoming({ ...person, providerId: "SM1", text: "Where is it?" }));
  await h.settle();
  await h.idle();
  const { db } = h.services.database;
  const [sent] = (await h.rows()).outbox;
  await db
    .update(outbox)
    .set({ status: "sent", providerMessageId: "SM2" })
    .where(eq(outbox.id, sent?.id ?? ""));
  const last = async (...messages: Parameters<typeof store>) => {
    await store(...messages);
    await h.settle();
    await h.idle();
    return h.prompts().at(-1)?.at(-1);
  };
  return { ...h, last };
}

test("a reply on WhatsApp comes with the words that it answers, of either side", async () => {
  const { last } = await onWhatsApp();
  expect(await last(answer("SM2", "agent"))).toBe(
    "[Reply to your own message:]\n> Your order 7 ships on Monday.\n\nNot this one",
  );
  expect(await last(answer("SM1", "sender"))).toBe(
    "[Reply to an earlier message of their own:]\n> Where is it?\n\nNot this one",
  );
  expect(await last(answer("SM9", "agent"))).toBe(
    "[Reply to your own message, whose text is not known here.]\n\nNot this one",
  );
});

test("naming its id shows no message that another person was sent", async () => {
  const { last } = await onWhatsApp();
  const other = { sender: "+393330000000", channelId: "+393330000000" };
  for (const id of ["SM1", "SM2"]) expect(await last(answer(id, "agent", other))).toContain("is not known here");
});
