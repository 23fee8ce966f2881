import { expect, test, vi } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, optOuts } from "../../../src/db/schema.ts";
import { heed } from "../../../src/features/inbox/intake/keywords.ts";
import { sendTo } from "../../../src/features/inbox/outbox/send-to.ts";
import { finish, gate, reply, text } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { answering, doing } from "./answering.ts";
import { incoming, privateUpdate, storing } from "./messengers.ts";

const optout = {
  optoutEnabled: true,
  optoutStopKeywords: ["STOP", "basta così"],
  optoutResumeKeywords: ["START"],
  optoutClosingMessage: "You will hear no more.",
  optoutResumeMessage: "Welcome back.",
};

const stoppers = async (h: Awaited<ReturnType<typeof answering>>) =>
  (await h.services.database.db.select().from(optOuts)).map(({ sender, channelId }) => [sender, channelId]);

test("a keyword is the whole text, trimmed, in any case", () => {
  const keywords = { enabled: true, stop: optout.optoutStopKeywords, resume: ["START", " "] };
  for (const said of ["STOP", " stop\n", "Basta Così", "basta cosi\u0300"])
    expect(heed(said, false, keywords)).toBe("stop");
  for (const said of ["Stop it", "", " ", "START"]) expect(heed(said, false, keywords)).toBe("answer");
  expect(heed("start", true, keywords)).toBe("resume");
  expect(heed("STOP", true, keywords)).toBe("drop");
  expect(heed(" ", true, keywords)).toBe("drop");
  expect(heed("STOP", false, { ...keywords, enabled: false })).toBe("answer");
  expect(heed("START", true, { ...keywords, enabled: false })).toBe("resume");
});

test.each([
  ["STOP", ["Stop.", "STOP!", "¡stop!", '"STOP"', "«stop»", "`Stop`", "´stop´", "*STOP*", "s t o p", "…stop…"]],
  ["STOP", ["stop\u200b", "\u200eSTOP", "\ufeffst\u00adop", "\u2066stop\u2069", "ＳＴＯＰ", "ｓｔｏｐ！"]],
  ["Stop all", ["stop\u00a0ALL", "stop, all!", "stop  all"]],
  ["ARRÊT", ["arrêt", "ARRE\u0302T", "arre\u0302t."]],
  ["İPTAL", ["iptal", "İptal", "IPTAL", "ıptal", "i\u0307ptal"]],
  ["ısırma", ["ISIRMA", "İSİRMA"]],
  ["ΤΕΛΟΣ", ["τελος", "τέλος", "Τέλος;", "τέλοσ"]],
  ["προϊόν", ["ΠΡΟΪΟΝ"]],
  ["Schluß", ["SCHLUSS", "schluẞ"]],
  ["🛑", ["🛑\ufe0f", "🛑🏽", " 🛑!"]],
  ["!!", ["!!", " ! !"]],
])("a keyword %s is heard in what a person's keyboard makes of it", (keyword, said) => {
  const keywords = { enabled: true, stop: [keyword], resume: [] };
  expect(said.map((text) => heed(text, false, keywords))).toEqual(said.map(() => "stop"));
});

test.each([
  ["STOP", ["please do not stop", "stop at the next shop", "stops", "stöp", "🛑", "!", "?"]],
  ["ARRÊT", ["arret"]],
  ["!!", ["!", "??", "!!?"]],
])("a keyword %s is heard in nothing else", (keyword, said) => {
  const keywords = { enabled: true, stop: [keyword], resume: [] };
  expect(said.map((text) => heed(text, false, keywords))).toEqual(said.map(() => "answer"));
});

test("a long text is no keyword, and is not normalized, which makes 18 characters of some", () => {
  const keywords = { enabled: true, stop: ["STOP", "\ufdfa".repeat(64)], resume: [] };
  expect(heed("\ufdfa".repeat(64).normalize("NFKC"), false, keywords)).toBe("stop");
  expect(heed(`STOP${" !".repeat(10_000)}`, false, keywords)).toBe("stop");
  const normalize = vi.spyOn(String.prototype, "normalize");
  expect(heed("\ufdfa".repeat(256_000), false, keywords)).toBe("answer");
  for (const text of normalize.mock.contexts) expect(String(text).length).toBeLessThan(2_000);
  normalize.mockRestore();
});

test("a person who stops the agent is told so, gets no answers, and returns by keyword; no model hears of it", async () => {
  const h = await answering(doing(reply("Hello again.")), { agent: optout });
  await h.say("Hello");
  await h.say("stop");
  expect(await h.statuses()).toEqual(["dropped", "dropped"]);
  expect(await stoppers(h)).toEqual([["42", "42"]]);
  await h.settle();
  await h.say("Are you there?");
  await h.say("STOP");
  await h.settle();
  expect(h.model.calls).toHaveLength(0);
  expect(await h.sent()).toEqual(["You will hear no more."]);
  await h.say("start");
  expect(await stoppers(h)).toEqual([]);
  await h.say("Hi");
  await h.settle();
  await h.idle();
  expect(h.prompts()).toEqual([["Hi"]]);
  expect(await h.sent()).toEqual(["You will hear no more.", "Welcome back.", "Hello again."]);
  expect(await h.statuses()).toEqual([...Array(5).fill("dropped"), "done"]);
});

test("redelivered keywords change nothing", async () => {
  const h = await answering(doing(), { agent: optout });
  await h.say("STOP", 1);
  await h.say("START", 2);
  await h.telegram(privateUpdate("STOP", 1));
  expect(await stoppers(h)).toEqual([]);
  expect(await h.sent()).toEqual(["You will hear no more.", "Welcome back."]);
});

test("a turn that runs when the person stops the agent says nothing, even after a tool or its last restart", async () => {
  const held = gate();
  const h = await answering(doing({ parts: [held.promise, ...text("Too late."), finish()] }), {
    agent: { ...optout, maxRestarts: 0 },
  });
  await h.say("Hello");
  await h.settle();
  await h.model.called(1);
  await h.say("STOP");
  held.open();
  await eventually(async () => (await h.turns())[0]?.[0] === "aborted");
  await h.settle();
  await h.idle();
  expect(await h.sent()).toEqual(["You will hear no more."]);
  expect(await h.transcript()).toEqual([]);
});

test("others in a group are answered, although one of them stopped the agent there", async () => {
  const h = await answering(doing(reply("Hello Bob.")), { agent: optout });
  const store = await storing(h, h.agent.slug);
  const inGroup = { channelId: "-5", isPrivate: false };
  await store(incoming({ ...inGroup, sender: "1", senderName: "Ada", text: "Hello" }));
  await store(incoming({ ...inGroup, sender: "2", senderName: "Bob", text: "Hi" }));
  await store(incoming({ ...inGroup, sender: "1", text: "STOP" }));
  expect(await stoppers(h)).toEqual([["1", null]]);
  await h.settle();
  await h.idle();
  expect(h.prompts()).toEqual([["Bob (2): Hi"]]);
  expect(await h.sent()).toEqual(["You will hear no more.", "Hello Bob."]);
});

test("keywords in one delivery are heeded in their order", async () => {
  const h = await answering(doing(reply("Yes.")), { agent: optout });
  const store = await storing(h, h.agent.slug);
  const all = ["One", "STOP", "Two", "START", "Three", "START"].map((said) => incoming({ text: said }));
  await store(...all);
  expect(await h.statuses()).toEqual(["dropped", "dropped", "dropped", "dropped", "pending", "pending"]);
  expect(await stoppers(h)).toEqual([]);
  await h.settle();
  await h.idle();
  // A person who has not stopped the agent may use the word.
  expect(h.prompts()).toEqual([["Three", "START"]]);
});

test("a person who stopped the agent gets nothing although the keywords were turned off since", async () => {
  const h = await answering(doing(reply("Hello.")), { agent: optout });
  await h.say("STOP");
  const patch = { method: "PATCH", headers: h.agent.headers, json: { optoutEnabled: false } };
  await h.request(`/api/instances/${h.agent.slug}`, patch);
  await h.say("Hello?");
  await h.say("START");
  await h.say("STOP");
  await h.settle();
  await h.idle();
  expect(await h.statuses()).toEqual(["dropped", "dropped", "dropped", "done"]);
  expect(h.prompts()).toEqual([["STOP"]]);
});

test("a person who stopped the agent in one thread of a private chat is sent nothing in the others", async () => {
  const h = await answering(doing(), { agent: optout });
  const { db } = h.services.database;
  const store = await storing(h, h.agent.slug);
  const [agent] = await db.select({ agentId: agents.id, organizationId: agents.organizationId }).from(agents);
  if (!agent) throw new Error("There is no agent");
  const place = { ...agent, channel: "telegram" } as const;
  const [turnId, later] = [newId(), newId()];
  await sendTo(db, { ...place, target: "42:7", turnId, text: "A reply in a thread." });
  await store(incoming({ channelId: "42:9", text: "STOP" }));
  expect(await stoppers(h)).toEqual([["42", "42"]]);
  for (const target of ["42", "42:7"]) {
    const more = { ...place, target, turnId: later, text: "More." };
    await expect(sendTo(db, more)).rejects.toThrow("The person stopped the agent");
  }
  await sendTo(db, { ...place, target: "421:7", turnId: later, text: "To somebody else." });
  await h.settle();
  const fates = async () => (await h.rows()).outbox.map(({ body, error }) => [body, error?.slice(0, 10) ?? null]);
  await eventually(async () => (await fates()).find(([body, error]) => body === "A reply in a thread." && error));
  expect(await fates()).toContainEqual(["A reply in a thread.", "The person"]);
});

test("a destination named by a person's id is closed by their stop, in whichever chat they sent it", async () => {
  const h = await answering(doing(), { agent: optout, names: ["slack"] });
  const { db } = h.services.database;
  const store = await storing(h, h.agent.slug, "slack");
  const [agent] = await db.select({ agentId: agents.id, organizationId: agents.organizationId }).from(agents);
  if (!agent) throw new Error("There is no agent");
  const to = (target: string, text: string) =>
    sendTo(db, { ...agent, channel: "slack", target, turnId: newId(), text });
  await to("U1", "To Ada, before.");
  await to("U2", "To Bob, before.");
  await store(incoming({ channelId: "D1", sender: "U1", text: "STOP" }));
  await store(incoming({ channelId: "C1:7.7", sender: "U2", text: "STOP", isPrivate: false }));
  expect(await stoppers(h)).toEqual([
    ["U1", "D1"],
    ["U2", null],
  ]);
  for (const target of ["U1", "D1", "U2"]) {
    await expect(to(target, "More.")).rejects.toThrow("The person stopped the agent");
  }
  await to("C1", "To all.");
  const fates = (await h.rows()).outbox.map(({ body, status }) => [body, status]);
  for (const fate of [
    ["To Ada, before.", "failed"],
    ["To Bob, before.", "failed"],
    ["To all.", "pending"],
  ]) {
    expect(fates).toContainEqual(fate);
  }
});
