import { expect, test } from "vitest";
import { finish, gate, text } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { answering, doing } from "./answering.ts";

/** A turn that runs while a person deletes something. */
async function held() {
  const end = gate();
  const h = await answering(doing({ parts: [...text("Half"), end.promise, ...text(" an answer."), finish()] }));
  await h.say("Hello");
  await h.settle();
  await h.model.called(1);
  return { ...h, end };
}

const errorsIn = (logs: string[]) => logs.filter((line) => line.includes('"level":"error"'));

test("a conversation that is deleted while its message is answered leaves nothing, and the next message begins anew", async () => {
  const h = await held();
  const [conversation] = (await h.rows()).conversations;
  const path = `/api/conversations/${encodeURIComponent(conversation?.ref ?? "")}`;
  expect((await h.request(path, { method: "DELETE", headers: h.agent.headers })).status).toBe(200);
  h.end.open();
  await h.idle();
  expect(await h.rows()).toMatchObject({ inbox: [], outbox: [], conversations: [] });
  await h.say("Hello again");
  expect((await h.rows()).inbox).toMatchObject([{ seq: 1, status: "pending" }]);
  expect(errorsIn(h.logs)).toEqual([]);
});

test("an agent that is deleted while it answers leaves nothing", async () => {
  const h = await held();
  const deleted = await h.request(`/api/instances/${h.agent.slug}`, { method: "DELETE", headers: h.agent.headers });
  expect(deleted.status).toBe(200);
  h.end.open();
  // The job finds the reason that its turn could not be recorded when it looks again.
  await eventually(async () => (await h.rows()).jobs.every(({ lockedUntil }) => lockedUntil === null));
  await h.clock.advance(10_000);
  await h.engine.tick();
  await h.idle();
  expect(await h.rows()).toMatchObject({ inbox: [], outbox: [], conversations: [] });
  expect((await h.say("Hello?")).status).toBe(404);
});
