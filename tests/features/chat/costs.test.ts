import { expect, test } from "vitest";
import { openEdition } from "../../../src/core/edition.ts";
import { managedEdition } from "../../harness.ts";
import { finish, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { chatHarness, readEvents } from "./chat.ts";

type Script = Parameters<typeof scriptedModel>[0];

/** An agent of a paid model in the managed edition. */
async function priced(script: Script, fields: object = {}, edition = managedEdition) {
  const h = await chatHarness(
    scriptedModel(script),
    { provider: "openai", model: "gpt-5-mini", ...fields },
    { edition },
  );
  const { headers, slug } = h.agent;
  const setPrices = async (...prices: object[]) => {
    const path = "/api/organizations/acme/model-prices";
    expect((await h.request(path, { method: "PUT", headers, json: { prices } })).status).toBe(200);
  };
  const turnsOf = async (chat: string) => {
    const path = `/api/conversations/${encodeURIComponent(`${slug}:web:api-${chat}`)}/turns`;
    const { turns } = await (await h.request(path, { headers })).json();
    const [one] = turns;
    const { turn } = await (await h.request(`${path}/${one.id}`, { headers })).json();
    expect(turn.costMicros).toBe(one.costMicros);
    return turns.map(({ costMicros }: { costMicros: number | null }) => costMicros);
  };
  const say = async (chat: string) => readEvents(await h.native("Hi", { chat_id: chat }));
  return { ...h, setPrices, turnsOf, say };
}

/** The days around now by the database's clock. */
const aroundNow = () => {
  const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString();
  return `from=${day(-1)}&to=${day(1)}`;
};

const taking = (tokens: Parameters<typeof finish>[1]) => ({ parts: [...text("Yes."), finish("stop", tokens)] });

test("a turn costs what its steps cost by the prices of then", async () => {
  const h = await priced(() => taking({ input: 1_000, output: 100, cached: 400 }));
  await h.say("a");
  // By the list: 600 * 0.25 + 400 * 0.025 + 100 * 2 micros.
  expect(await h.turnsOf("a")).toEqual([360]);
  await h.setPrices({ provider: "openai", model: "gpt-5*", inputPerMillion: 1, outputPerMillion: 10 });
  expect(await h.turnsOf("a")).toEqual([360]);
  await h.say("a");
  expect(await h.turnsOf("a")).toEqual([2_000, 360]);
  const { headers } = h.agent;
  const usage = await (await h.request(`/api/analytics/usage?by=agent&${aroundNow()}`, { headers })).json();
  expect(usage).toMatchObject({ currency: "USD", usage: [{ turns: 2, costMicros: 2_360, unpricedTurns: 0 }] });
});

test("the calls of a turn are rounded together", async () => {
  const input = { input: 1, output: 0 };
  const calls = { parts: [toolCall("c1", "currentTime", {}), finish("tool-calls", input)] };
  const h = await priced([calls, taking(input)]);
  await h.setPrices({ provider: "openai", model: "*", inputPerMillion: 0.5, outputPerMillion: 0 });
  await h.say("a");
  expect(await h.turnsOf("a")).toEqual([1]);
});

test("what has no price costs an unknown amount, and what made no call costs nothing", async () => {
  const h = await priced(() => reply("Yes."), { model: "o9" });
  await h.say("a");
  expect(await h.turnsOf("a")).toEqual([null]);
  // In another currency the list prices do not hold.
  await h.setPrices({ provider: "openai", model: "o9", inputPerMillion: 1, outputPerMillion: 1, currency: "EUR" });
  await h.say("b");
  expect((await h.turnsOf("b"))[0]).toBeGreaterThan(0);
  const { headers } = h.agent;
  const { currency, overview } = await (await h.request(`/api/analytics?${aroundNow()}`, { headers })).json();
  expect([currency, overview.unpricedTurns]).toEqual(["EUR", 1]);

  const failing = await priced(() => ({ fail: new Error("broken") }));
  await failing.say("a");
  expect(await failing.turnsOf("a")).toEqual([0]);
});

test("the open edition computes no costs", async () => {
  const h = await priced(() => taking({ input: 1_000, output: 100 }), {}, openEdition);
  await h.say("a");
  expect(await h.turnsOf("a")).toEqual([null]);
});
