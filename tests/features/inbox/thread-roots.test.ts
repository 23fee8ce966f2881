import { expect, test } from "vitest";
import { forTest } from "../../adapters/messengers/accounts.ts";
import { slackBotId, slackEvent, slackHeaders, slackServer, slackTokens } from "../../messengers/slack-server.ts";
import { reply } from "../../scripted-model.ts";
import { answering } from "./answering.ts";
import { saveChannel } from "./messengers.ts";

const root = "1355517000.000001";
const channel = "C123ABC456";

/** An agent in Slack; Bob mentions it in the thread `root`, which Ada began. */
async function inSlack(fields: Record<string, unknown> = {}) {
  const slack = await forTest(slackServer());
  const h = await answering(() => reply("I see."), { names: [], bases: { slack: slack.base }, agent: fields });
  const { botToken, signingSecret } = slackTokens;
  await saveChannel(h, h.agent.slug, "slack", { fields: { botToken, signingSecret, transport: "webhook" } });
  const bring = async (event: object) => {
    const body = JSON.stringify(slackEvent({ channel, user: "UBOB", ...event }));
    const headers = slackHeaders(body, h.clock.now());
    return (await h.post(`slack/${h.agent.slug}`, { body, headers })).status;
  };
  let minute = 0;
  const mention = (text: string, more: object = {}) => {
    minute += 1;
    const ts = `13555171${String(minute).padStart(2, "0")}.000001`;
    return bring({
      type: "app_mention",
      text: `<@${slackBotId}> ${text}`,
      ts,
      thread_ts: root,
      parent_user_id: "UADA",
      ...more,
    });
  };
  /** The prompt of the next turn, once the message is acknowledged. */
  const prompt = async (acknowledged: Promise<number>, turns: number) => {
    expect(await acknowledged).toBe(200);
    await h.settle();
    await h.done(turns);
    await h.rested();
    return h.prompts().at(-1);
  };
  const asked = () => slack.requests.filter(({ path }) => path.endsWith("/conversations.replies"));
  return { ...h, slack, mention, prompt, asked };
}

test("a mention in a thread of somebody else brings the thread's first message, once", async () => {
  const h = await inSlack();
  const profile = { real_name: "Ada Lovelace" };
  const text = "Deploy *failed* on <https://ci.example|CI>";
  const attachments = [{ text: "A preview of the page", from_url: "https://ci.example" }];
  h.slack.roots.set(root, { user: "UADA", user_profile: profile, text, attachments });
  const first =
    "[Reply to a message of Ada Lovelace (UADA):]\n> Deploy *failed* on CI (https://ci.example)\n\nUBOB: why?";
  expect(await h.prompt(h.mention("why?"), 1)).toEqual([first]);
  expect(h.asked().map(({ body }) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
    { channel, ts: root, limit: "1" },
  ]);
  expect(await h.prompt(h.mention("and now?"), 2)).toEqual([first, "UBOB: and now?"]);
  expect(h.asked()).toHaveLength(1);
});

test("a program's first message is quoted with its attachments' words and its files", async () => {
  const h = await inSlack({ attachmentsEnabled: true });
  const file = {
    id: "F1",
    name: "log.txt",
    mimetype: "text/plain",
    size: 4,
    url_private: `${h.slack.url}/files-pri/F1`,
  };
  h.slack.files.set("/files-pri/F1", { bytes: new TextEncoder().encode("boom"), mime: "text/plain" });
  const attachments = [{ text: "Build 4711 is red" }, { fallback: "See the log" }];
  h.slack.roots.set(root, { bot_id: "B1", username: "CI", text: "", attachments, files: [file] });
  const [said] = (await h.prompt(h.mention("why?"), 1)) ?? [];
  expect(said).toContain(
    "[Reply to a message of CI (B1), with the quoted files:]\n> Build 4711 is red\n> \n> See the log\n\nUBOB: why?",
  );
  expect(said).toContain("boom");
});

test("the first message of one's own thread is one's own, and that of the agent's thread is not asked for", async () => {
  const h = await inSlack();
  h.slack.roots.set(root, { user: "UBOB", text: "Lunch?" });
  const own = { parent_user_id: "UBOB" };
  const said = "[Reply to an earlier message of their own:]\n> Lunch?\n\nUBOB: where?";
  expect(await h.prompt(h.mention("where?", own), 1)).toEqual([said]);
  const ofAgent = { thread_ts: "1355517000.000002", parent_user_id: slackBotId };
  expect(await h.prompt(h.mention("and?", ofAgent), 2)).toEqual(["UBOB: and?"]);
  expect(h.asked()).toHaveLength(1);
});

const unknown = "[Reply to a message of UADA, whose text is not known here.]\n\nUBOB: why?";

test.each([
  ["the app lacks the scope", { json: { ok: false, error: "missing_scope", needed: "channels:history" } }],
  ["it was deleted", { json: { ok: true, messages: [{ ts: root, subtype: "tombstone", text: "Deleted." }] } }],
  ["Slack answers with something else", { json: { ok: true, messages: "none" } }],
  ["the connection breaks", "reset" as const],
])("a message is answered whose thread's first message is unknown, since %s", async (_, failure) => {
  const h = await inSlack();
  h.slack.fail("conversations.replies", failure);
  expect(await h.prompt(h.mention("why?"), 1)).toEqual([unknown]);
});

test("a message is acknowledged after 2 seconds in which Slack did not tell of its thread", async () => {
  const h = await inSlack();
  h.slack.fail("conversations.replies", "hang");
  const acknowledged = h.mention("why?");
  await expect.poll(() => h.asked().length).toBe(1);
  await h.clock.advance(2_000);
  expect(await h.prompt(acknowledged, 1)).toEqual([unknown]);
});
