import { expect, test } from "vitest";
import type { Services } from "../../../src/context/ctx.ts";
import { unmeasured } from "../../../src/core/meters.ts";
import { OpenStreams, streamLimit } from "../../../src/features/turns/access/open-streams.ts";
import type { Agents, Grant } from "../../../src/features/turns/index.ts";
import { finish, gate, reply, scriptedModel, text } from "../../scripted-model.ts";
import { chatHarness } from "./chat.ts";

const from = (ip: string) => ({ headers: { "X-Forwarded-For": ip } });
const message = "Too many open streams";

test("one client holds 256 open streams and no more, on both doors; others are not concerned", async () => {
  const held = gate();
  const h = await chatHarness(scriptedModel(() => ({ parts: [text("some"), held.promise, finish()] })));
  const client = from("203.0.113.7");
  const open = await Promise.all(Array.from({ length: streamLimit }, () => h.native("q", {}, client)));
  expect(open.every(({ status }) => status === 200)).toBe(true);

  for (const refused of [
    await h.native("q", {}, client),
    await h.complete("q", {}, client),
    await h.complete("q", { stream: true }, client),
  ]) {
    expect(await refused.json()).toMatchObject({ statusCode: 429, message, error: "Too Many Requests" });
    expect(refused.headers.get("Retry-After")).toBe("5");
  }
  expect((await h.stored()).turns).toHaveLength(streamLimit);
  expect((await h.native("q", {}, from("203.0.113.8"))).status).toBe(200);

  // A client that leaves frees its permit.
  await open[0]?.body?.cancel();
  expect((await h.native("q", {}, client)).status).toBe(200);
  expect((await h.native("q", {}, client)).status).toBe(429);

  held.open();
  await Promise.all(open.slice(1).map((response) => response.text()));
  expect((await h.complete("q", {}, client)).status).toBe(200);
});

test("a refused stream is counted by the throttle, as every call is", async () => {
  const held = gate();
  const h = await chatHarness(scriptedModel(() => ({ parts: [text("some"), held.promise, finish()] })));
  const client = from("203.0.113.7");
  await Promise.all(Array.from({ length: streamLimit }, () => h.native("q", {}, client)));
  for (let call = 0; call < 20; call += 1) {
    expect(await (await h.complete("q", {}, client)).json()).toMatchObject({ message });
  }
  expect(await (await h.complete("q", {}, client)).json()).toMatchObject({
    message: expect.stringContaining("Too many requests"),
  });
  held.open();
});

test("however a call ends, its permit is free afterwards", async () => {
  const h = await chatHarness(
    scriptedModel((_call, index) => (index % 2 === 0 ? reply("ok") : { fail: new Error("The provider broke") })),
  );
  const client = from("203.0.113.7");
  const activate = (active: boolean) =>
    h.request(`/api/instances/${h.agent.slug}`, { method: "PATCH", headers: h.agent.headers, json: { active } });
  for (const ask of [h.native, h.complete]) {
    for (const extra of [{}, { stream: true }]) {
      for (let n = 0; n < 4; n += 1) await (await ask("q", extra, client)).text();
      await ask("q", extra, { ...client, signal: AbortSignal.abort() }).then(({ body }) => body?.cancel());
      expect((await ask("", extra, client)).status).toBe(400);
      // A call that an inactive agent refuses keeps no permit.
      await activate(false);
      expect((await ask("q", extra, client)).status).toBe(404);
      await activate(true);
      await h.clock.advance(60_000);
    }
  }
  const open = await Promise.all(Array.from({ length: streamLimit }, () => h.native("q", {}, client)));
  expect(open.every(({ status }) => status === 200)).toBe(true);
  expect((await h.native("q", {}, client)).status).toBe(429);
});

test("a permit is given back once", () => {
  const streams = new OpenStreams({ meters: unmeasured } as Services, {} as Agents);
  const grant = { agent: { row: { id: "x" } } } as Grant;
  const seats = Array.from({ length: streamLimit }, () => streams.enter("a", grant));
  expect(() => streams.enter("a", grant)).toThrow(message);
  seats[0]?.leave();
  seats[0]?.leave();
  streams.enter("a", grant);
  expect(() => streams.enter("a", grant)).toThrow(message);
});
