import { expect, test } from "vitest";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { chatHarness } from "./chat.ts";

test("no reply has a credential of an event source, nor a new one of a turned token", async () => {
  let said = "";
  const h = await chatHarness(scriptedModel(() => reply(said)));
  const { headers, slug } = h.agent;
  const send = async (path: string, json: object = {}) => {
    const response = await h.request(`/api/instances/${slug}/event-sources${path}`, { method: "POST", headers, json });
    expect(response.status).toBe(201);
    return (await response.json()) as { id: string; webhookToken: string; webhookUrl: string };
  };
  const authKey = "key-of-a-sender-4711";
  const source = await send("", { name: "CI", sourceType: "custom", authKey });
  const expectHidden = async ({ webhookToken, webhookUrl }: typeof source) => {
    said = `auth ${authKey}, token ${webhookToken}, address ${webhookUrl}`;
    const streamed = await (await h.native("Say", { chat_id: "c" })).text();
    expect(streamed).toContain("auth [secret], token [secret], address http");
    for (const secret of [authKey, webhookToken]) {
      expect(JSON.stringify([streamed, await h.stored()])).not.toContain(secret);
    }
  };
  await expectHidden(source);
  await expectHidden(await send(`/${source.id}/rotate-token`));
});
