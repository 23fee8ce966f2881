import { expect, test } from "vitest";
import { telegramToken } from "../../messengers/telegram-server.ts";
import { messaging } from "./sending.ts";

/** Every kind of secret that an agent may have. */
const held = {
  secret: "crm-canary-4711-of-a-secret",
  skill: "shop-canary-4711-of-a-skill",
  source: "ci-canary-4711-of-a-source",
  channel: telegramToken,
};

/** An agent that has all of `held`. */
async function holding() {
  const h = await messaging();
  const { headers } = h.agent;
  const send = async (method: string, path: string, json: object = {}) => {
    const response = await h.request(path, { method, headers, json });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.text();
  };
  const own = "/api/instances/support";
  const requiredEnv = [{ name: "API_KEY", sensitive: true }];
  await send("PUT", `${own}/secrets`, { secrets: [{ key: "crm_token", value: held.secret }] });
  await send("POST", `/api/organizations/${h.organization.slug}/skills`, {
    name: "Shop",
    description: "Orders.",
    content: "Sell.",
    requiredEnv,
  });
  await send("PUT", `${own}/skills/shop/env`, { env: [{ key: "API_KEY", value: held.skill }] });
  await send("POST", `${own}/event-sources`, { name: "CI", sourceType: "custom", authKey: held.source });
  const happened: string[] = [];
  h.services.activity.watch({ sees: () => true, conversation: null, take: (text) => happened.push(text) });
  return { ...h, send, happened, own };
}

const words = `no such chat: ${Object.values(held).join(" or ")}`;
const refusal = (status: number, description: string) => ({
  status,
  json: { ok: false, error_code: status, description },
});

test("an error text of a messenger is stored, told and logged without any secret of the agent", async () => {
  const h = await holding();
  h.telegram.fail("sendMessage", refusal(500, words), refusal(400, words));
  await h.say("Hello");
  const shown = "no such chat: [secret] or [secret] or [secret] or [secret]";
  const [waiting] = await h.settled((rows) => rows.some(({ error }) => error !== null));
  expect(waiting).toMatchObject({ status: "pending", error: `Telegram refused sendMessage (500): ${shown}` });
  expect((await h.channel())?.lastError).toBe(waiting?.error);
  await h.later(60_000);
  const rows = await h.settled((all) => all.every(({ status }) => status === "failed"));
  expect(rows[0]?.error).toContain(shown);
  await expect.poll(() => h.happened.join()).toContain(shown);
  const told = [rows, h.logs, h.happened, await h.channel()].map((part) => JSON.stringify(part)).join();
  for (const secret of Object.values(held)) expect(told).not.toContain(secret);
});

test("the test of a channel shows no secret of the agent, nor a part of one that the words end with", async () => {
  const h = await holding();
  const cut = `${"x".repeat(280)} ${held.secret}`;
  h.telegram.fail("getWebhookInfo", refusal(400, words));
  const first = await h.send("POST", `${h.own}/channels/telegram/test`);
  h.telegram.fail("getMe", refusal(400, cut));
  const second = await h.send("POST", `${h.own}/channels/telegram/test`);
  expect([first, second].join()).toMatch(/x{280} \[secret\]/);
  for (const secret of Object.values(held)) expect([first, second].join()).not.toContain(secret.slice(0, 8));
});

test("the log says without secrets why a former account could not be left, also of a deleted agent", async () => {
  const h = await holding();
  h.telegram.fail("deleteWebhook", refusal(400, words));
  // A turn of this process has loaded the secrets.
  await h.answer("Hello");
  await h.send("DELETE", h.own);
  await expect
    .poll(async () => {
      await h.engine.tick();
      return h.logs.find((line) => line.includes("could not be left"));
    })
    .toContain("no such chat: [secret] or [secret] or [secret] or [secret]");
  for (const secret of Object.values(held)) expect(h.logs.join()).not.toContain(secret);
});

test("error texts are left out while the secrets they may hold can't be read", async () => {
  const h = await holding();
  h.services.agentSecrets.loadBy(async () => Promise.reject(new Error("A value does not open")));
  h.telegram.fail("sendMessage", refusal(400, words));
  await h.say("Hello");
  const [row] = await h.settled((rows) => rows.some(({ error }) => error !== null));
  expect(row).toMatchObject({ status: "failed", error: "Telegram refused sendMessage (400)" });
});
