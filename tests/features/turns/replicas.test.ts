import { expect, test } from "vitest";
import { CurrentPolicies } from "../../../src/core/policies.ts";
import { createEngine } from "../../../src/engine.ts";
import { finish, gate, scriptedModel, text } from "../../scripted-model.ts";
import { chatHarness, eventually, readUntil } from "../chat/chat.ts";

// Two engines that hear each other, as replicas on one PostgreSQL do. The clock stands still, so nothing here is found
// by polling.

async function replicas() {
  const held = gate();
  const model = scriptedModel(() => ({ parts: [...text("some"), held.promise, ...text(" more"), finish()] }));
  const h = await chatHarness(model);
  const other = createEngine({ ...h.services, policies: new CurrentPolicies() });
  const call = (path: string, init: RequestInit = {}) =>
    other.app.request(
      path,
      { ...init, headers: { Authorization: `Bearer ${h.agent.key}`, "Content-Type": "application/json" } },
      { remoteAddress: "192.0.2.2" },
    );
  const begin = async () => {
    const { text: read } = await readUntil(await h.native("Hello", { chat_id: "c" }), (said) => said.includes("some"));
    return /id: ([^:]+):/.exec(read)?.[1] ?? "";
  };
  return { h, held, model, call, begin, stream: `/api/instances/${h.agent.slug}/chat/stream` };
}

test("a turn that waits behind another replica's runs as soon as that one ends", async () => {
  const { h, held, model, call, begin } = await replicas();
  await begin();
  const json = { model: h.agent.slug, messages: [{ role: "user", content: "And?" }], chat_id: "c" };
  const waiting = call("/v1/chat/completions", { method: "POST", body: JSON.stringify(json) });
  await eventually(async () => (await h.stored()).turns.length === 2);
  expect(model.calls).toHaveLength(1);
  held.open();
  expect((await (await waiting).json()).choices[0].message.content).toBe("some more");
});

test("a turn is stopped at once from another replica", async () => {
  const { h, call, begin, stream } = await replicas();
  const messageId = await begin();
  expect(await (await call(`${stream}/${messageId}`, { method: "DELETE" })).json()).toEqual({ stopped: true });
  await eventually(async () => (await h.stored()).turns[0]?.status === "aborted");
  expect((await h.stored()).messages.at(-1)).toMatchObject({ content: "some", metadata: { stopped: "stop" } });
});

test("the owner of a stream hands it over as soon as another replica is asked for it", async () => {
  const { h, held, call, begin, stream } = await replicas();
  const messageId = await begin();
  const response = await call(`${stream}/${messageId}`);
  await eventually(async () => {
    const rows = await h.services.database.query("select first from stream_chunks where first > 0", []);
    return rows.length > 0;
  });
  held.open();
  await response.body?.cancel();
});
