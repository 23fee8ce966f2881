import { expect, test, vi } from "vitest";
import { reply, type ScriptedCall } from "../../scripted-model.ts";
import { cooked, isQuestion, payloadOf, proven } from "./recipe.ts";
import { calling, ending, eventIds, lastText } from "./working.ts";

vi.setConfig({ testTimeout: 120_000 });

const stored = [200, { ok: true }];
const adasChat = "4711";
const form = { "Content-Type": "application/x-www-form-urlencoded" };

/** The data between a prompt's marks; a note names the marks with a word between them. */
function dataIn(told: string): unknown[] {
  const found = [...told.matchAll(/<<([0-9a-f]{24})\s([\s\S]*?)\s\1>>/g)].map(([, , data = ""]) => data);
  return found.filter((data) => data !== "and").map((data) => JSON.parse(data));
}

/** Says yes to the matcher, and this text in turns. */
const saying = (words: string) => (call: ScriptedCall) => (isQuestion(call) ? reply("**Yes**.") : reply(words));

test("GitHub: an issue is opened", async () => {
  const news = "Baskets are empty after signing in since yesterday. Urgent: nobody can buy.";
  const h = await cooked("GitHub: an issue is opened", (call) => {
    if (isQuestion(call)) return reply("Yes");
    const ids = eventIds(lastText(call));
    if (ids.length === 0) return ending();
    return calling(
      ["sendMessageToHuman", { message: news, eventId: ids[0] }],
      ["markEventsCompleted", { eventIds: ids, notes: "Told the team" }],
    );
  });
  // GitHub's first call when the webhook is made, and later events of the issue.
  expect(await h.send(JSON.stringify(payloadOf("github-ping")))).toEqual(stored);
  const issue = payloadOf("github-issue-opened");
  expect(await h.send(JSON.stringify({ ...issue, action: "labeled" }))).toEqual(stored);
  const conditions = (await h.ledger()).map(({ outcome, verdicts }) => [outcome, verdicts[0]?.condition?.path]);
  expect(conditions).toEqual([
    ["no-match", "action"],
    ["no-match", "action"],
  ]);
  expect(h.told()).toEqual([]);

  expect(await h.send(JSON.stringify(issue))).toEqual(stored);
  const [question = "", told = ""] = h.told();
  expect(question).toContain("An issue that reports a bug which customers of the shop notice");
  expect(dataIn(question)).toEqual([issue]);
  expect(dataIn(told)).toEqual([issue.issue.user.login, issue.issue.html_url, issue.issue.title, issue.issue.body]);
  expect(h.readByPeople()).toEqual([[adasChat, news]]);
  const [event] = await h.ledger();
  const [entry] = await h.backlog();
  expect(event).toMatchObject({ outcome: "backlog", reason: null, backlogId: entry?.id, payload: issue });
  expect(event?.verdicts).toMatchObject([{ answer: "Yes", matched: true }]);
  expect(entry).toMatchObject({ status: "completed", reactNotes: "Told the team" });
});

test("GitHub, with its other content type: the event is one text, into which no condition reaches", async () => {
  const h = await cooked("GitHub: an issue is opened", saying(""));
  const payload = JSON.stringify(payloadOf("github-issue-opened"));
  expect(await h.send(new URLSearchParams({ payload }).toString(), form)).toEqual(stored);
  const [event] = await h.ledger();
  expect(event).toMatchObject({ outcome: "no-match", payload: { payload } });
  expect(event?.verdicts).toMatchObject([{ answer: null, condition: { path: "action" } }]);
  expect(h.told()).toEqual([]);
});

test("Stripe: a payment failed", async () => {
  const draft = "Ada's card had too little money for order 4711.";
  const h = await cooked("Stripe: a payment failed", saying(draft));
  const failed = payloadOf("stripe-payment-failed");
  expect(await h.send(JSON.stringify({ ...failed, livemode: false }))).toEqual(stored);
  expect(h.told()).toEqual([]);

  expect(await h.send(JSON.stringify(failed), { "Content-Type": "application/json; charset=utf-8" })).toEqual(stored);
  const [, told = ""] = h.told();
  expect(dataIn(told)).toEqual([
    ...[4990, "eur", "Order 4711", "ada@example.com"],
    ...["Your card has insufficient funds.", "insufficient_funds"],
  ]);
  expect(told).not.toContain("client_secret");
  expect(h.readByPeople()).toEqual([[adasChat, draft]]);
  const [event, tried] = await h.ledger();
  expect(event).toMatchObject({ outcome: "conversation", reason: null, verdicts: [{ answer: "**Yes**." }] });
  expect(tried).toMatchObject({ outcome: "no-match", verdicts: [{ condition: { path: "livemode" } }] });
  expect(await h.backlog()).toEqual([]);
});

test("Alertmanager: something is on fire", async () => {
  const news = "The checkout fails on shop-1 and shop-2 since 02:13.";
  const h = await cooked("Alertmanager: something is on fire", saying(news));
  const firing = payloadOf("alertmanager-firing");
  const [status] = await h.send(JSON.stringify(firing));
  expect([status, await h.ledger()]).toEqual([401, []]);

  expect(await h.send(JSON.stringify(firing), proven)).toEqual(stored);
  const [, told = ""] = h.told();
  expect(dataIn(told)).toEqual([firing.commonAnnotations.summary, firing.alerts]);
  expect(h.readByPeople()).toEqual([[adasChat, news]]);
  expect(await h.ledger()).toMatchObject([{ outcome: "conversation", reason: null, payload: firing }]);

  expect(await h.send(JSON.stringify({ ...firing, status: "resolved" }), proven)).toEqual(stored);
  expect((await h.ledger())[0]).toMatchObject({ outcome: "no-match", verdicts: [{ condition: { path: "status" } }] });
  expect(h.readByPeople()).toHaveLength(1);
});

test("Uptime Kuma: a site is down", async () => {
  const news = "The shop answers 503 since 03:14. Look at its database first.";
  const h = await cooked("Uptime Kuma: a site is down", saying(news));
  expect(await h.send(JSON.stringify(payloadOf("uptime-kuma-test")), proven)).toEqual(stored);
  const down = payloadOf("uptime-kuma-down");
  const up = { ...down, heartbeat: { ...down.heartbeat, status: 1, msg: "200 - OK" }, msg: "[Shop] [Up] 200 - OK" };
  expect(await h.send(JSON.stringify(up), proven)).toEqual(stored);
  expect(h.told()).toEqual([]);

  expect(await h.send(JSON.stringify(down), proven)).toEqual(stored);
  const [, told = ""] = h.told();
  expect(dataIn(told)).toEqual([
    ...["Shop", "https://shop.example.com/health"],
    ...["2026-11-21 03:14:11", "Request failed with status code 503"],
  ]);
  expect(h.readByPeople()).toEqual([[adasChat, news]]);

  // The page's other preset.
  const multipart = new FormData();
  multipart.append("data", JSON.stringify(down));
  const { Authorization } = proven;
  expect(await h.send(multipart, { Authorization })).toEqual([200, { ok: false, error: "unsupported content type" }]);
  expect((await h.ledger()).map(({ outcome, reason }) => [outcome, reason])).toEqual([
    ["invalid-payload", "unsupported content type"],
    ["conversation", null],
    ["no-match", null],
    ["no-match", null],
  ]);
});

test("a form: somebody wants something, and the team answers in the chat", async () => {
  const question = "May I write that the money comes back within 5 days?";
  const h = await cooked("A form: somebody wants something", (call) => {
    if (isQuestion(call)) return reply("yes, a request");
    const told = lastText(call);
    const ids = eventIds(told);
    if (told.includes("What people wrote to you meanwhile")) return calling(["markEventsCompleted", { eventIds: ids }]);
    if (ids.length > 0) return calling(...ids.map((eventId) => asking(question, eventId)));
    return call.prompt.at(-1)?.role === "tool" ? ending() : reply("Thank you, I will.");
  });
  const fields = payloadOf("contact-form") as [string, string][];
  const trap = fields.map(([name, value]): [string, string] => [
    name,
    name === "website" ? "https://spam.test" : value,
  ]);
  expect(await h.send(new URLSearchParams(trap).toString(), form)).toEqual(stored);
  expect((await h.ledger())[0]).toMatchObject({ outcome: "no-match", verdicts: [{ condition: { path: "website" } }] });

  expect(await h.send(new URLSearchParams(fields).toString(), form)).toEqual(stored);
  const [event] = await h.ledger();
  expect(event).toMatchObject({
    outcome: "backlog",
    payload: {
      topic: ["Delivery", "Refund"],
      message: "My order 4711 came broken.\r\nCan I have the money back? 49,90 \u20ac",
      website: "",
    },
  });
  // The page sends an event, too.
  expect(h.readByPeople()).toEqual([
    [adasChat, question],
    [adasChat, question],
  ]);
  expect((await h.backlog()).map(({ status }) => status)).toEqual(["pending", "pending"]);
  await h.pass(60 * 60_000);
  expect(h.readByPeople()).toHaveLength(2);

  await h.say("Yes, 5 days is right.");
  expect(h.readByPeople().slice(2)).toEqual([[adasChat, "Thank you, I will."]]);
  const reminded = h.told().find((told) => told.includes("What people wrote to you meanwhile")) ?? "";
  expect(reminded).toContain("Yes, 5 days is right.");
  expect((await h.backlog()).map(({ status }) => status)).toEqual(["completed", "completed"]);
});

const asking = (message: string, eventId: string): [string, unknown] => ["sendMessageToHuman", { message, eventId }];

test("a digest every morning", async () => {
  const report = { orders: 12, total: 598.8 };
  const asked: string[] = [];
  const digest = "12 orders yesterday, 598.80 EUR together.";
  const h = await cooked(
    "A digest every morning",
    (call) => {
      if (call.prompt.at(-1)?.role === "tool") return reply(digest);
      const url = /https:\S+\.json/.exec(lastText(call))?.[0];
      return calling(["httpRequest", { url }]);
    },
    {
      egress: {
        request: async ({ url }) => {
          asked.push(url);
          return { status: 200, headers: {}, body: JSON.stringify(report), url };
        },
      },
    },
  );
  // The test's year begins at 1 in the morning in Rome.
  await h.pass(7 * 60 * 60_000 - 60_000);
  expect(h.readByPeople()).toEqual([]);
  await h.pass(60_000);
  expect(asked).toEqual(["https://shop.example.com/reports/orders/yesterday.json"]);
  expect(h.readByPeople()).toEqual([[adasChat, digest]]);
  await h.pass(24 * 60 * 60_000);
  expect(h.readByPeople()).toHaveLength(2);
  const { scheduledTasks } = (await h.read("/scheduled-tasks")) as { scheduledTasks: { nextRunAt: string }[] };
  expect(scheduledTasks[0]?.nextRunAt).toBe("2026-01-03T07:00:00.000Z");
});
