import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents } from "../../../src/db/schema.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { ownTurns, takeOwnTurn } from "../../turns.ts";
import { watch } from "../activity/watch.ts";
import { asking, hooked, paths } from "../hooks/hooked.ts";

const { signal } = new AbortController();

/** A turn of a messenger, which sends the reply once the turn is recorded. */
async function messaged(hooks: Parameters<typeof hooked>[1], answer?: Parameters<typeof hooked>[2]) {
  const h = await hooked(
    scriptedModel(() => reply("Hello, Ada.")),
    hooks,
    answer,
  );
  const turns = ownTurns(h.services);
  const ref = `${h.agent.slug}:telegram:42`;
  const turn = await takeOwnTurn(turns, h.agent.slug, {
    door: "inbox",
    origin: { channel: "telegram", channelId: "42", source: "user", depth: 0, subject: "telegram:42" },
    ref,
    stored: true,
    input: { history: [], fresh: ["Hi", "there"] },
    rule: "always-finish",
    requestId: newId(),
    throttle: null,
  });
  await turn.ended;
  const executions = async () =>
    (await h.send("GET", `/api/conversations/${encodeURIComponent(ref)}/hooks`)).executions as Record<
      string,
      unknown
    >[];
  return { ...h, turns, turn, executions };
}

const saying = {
  event: "response_sent",
  actionConfig: {
    toolName: "httpRequest",
    args: {
      url: "https://hooks.example/sent",
      method: "POST",
      body: { said: "{{message.text}}", reply: "{{response.text}}", to: "{{channel.type}}:{{channel.id}}" },
    },
  },
};

test("hooks of a reply that a messenger sends run after it was sent, once, with what was said", async () => {
  const h = await messaged([asking("message_received", "came"), saying]);
  expect(paths(h.asked)).toEqual(["came"]);

  const [row] = await h.services.database.db.select().from(agents);
  const seen = watch(h, { agentId: row?.id ?? "", ref: `${h.agent.slug}:telegram:42` });
  await h.turns.replySent(h.turn.id, signal);
  expect(seen.persisted()).toEqual([{ hookExecutionId: (await h.executions())[1]?.id }]);
  expect(paths(h.asked)).toEqual(["came", "sent"]);
  expect(JSON.parse(h.asked[1]?.body ?? "")).toEqual({ said: "Hi\nthere", reply: "Hello, Ada.", to: "telegram:42" });
  expect((await h.executions()).map(({ event, success }) => [event, success])).toEqual([
    ["message_received", true],
    ["response_sent", true],
  ]);

  await h.turns.replySent(h.turn.id, signal);
  expect(paths(h.asked)).toEqual(["came", "sent"]);
});

test("a long result of such a hook is stored shortened", async () => {
  const h = await messaged([saying], () => ({ body: "long ".repeat(200_000) }));
  await h.turns.replySent(h.turn.id, signal);
  expect(await h.executions()).toMatchObject([
    { success: true, result: { body: expect.stringMatching(/^long .{60000,66000}… \(\d+ more characters\)$/) } },
  ]);
});

test("what such a hook writes to the state stays, and never what is private", async () => {
  const set = (key: string) => ({
    event: "response_sent",
    actionConfig: { toolName: "setState", args: { key, value: "{{response.text}}" } },
  });
  const h = await messaged([set("last"), set("_private")]);
  await h.turns.replySent(h.turn.id, signal);
  const [conversation] = (await h.stored()).conversations;
  expect(conversation?.state).toEqual({ last: "Hello, Ada." });
  expect((await h.executions()).map(({ success }) => success)).toEqual([true, false]);
});

test("a deleted turn has no hooks to run, and an agent that is off runs none", async () => {
  const h = await messaged([saying]);
  await h.turns.replySent(newId(), signal);
  await h.send("PATCH", h.own, { active: false });
  await expect(h.turns.replySent(h.turn.id, signal)).rejects.toMatchObject({ code: "not-found" });
  expect(h.asked).toEqual([]);
});
