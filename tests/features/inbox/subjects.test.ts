import { expect, test } from "vitest";
import { userBudgetPeriods } from "../../../src/db/schema.ts";
import { reply } from "../../scripted-model.ts";
import { answering } from "./answering.ts";

test("a person of a messenger shares nothing with a web user of the same id", async () => {
  const h = await answering(() => reply("Yes."), { agent: { userMonthlyTokenBudget: 100_000 } });
  const { slug, key, headers } = h.agent;
  const remember = async (content: string, subjectChannel: string) => {
    const json = { instanceId: slug, content, subject: "42", subjectChannel };
    expect((await h.request("/memories", { method: "POST", headers, json })).status).toBe(201);
  };
  await remember("The PIN is blue-elephant", "telegram");
  await remember("The PIN is red-giraffe", "web");
  await h.say("What is my PIN?");
  await h.settle();
  await h.idle();
  for (const user of ["42", "telegram:42", `${slug}:telegram:42`]) {
    const response = await h.request("/v1/chat/completions", {
      method: "POST",
      headers: { Authorization: `Bearer ${key}` },
      json: { model: slug, chat_id: "c", user, messages: [{ role: "user", content: "What is my PIN?" }] },
    });
    expect(response.status).toBe(200);
  }
  const told = h.model.calls.map(({ prompt }) => JSON.stringify(prompt).match(/blue-elephant|red-giraffe/g));
  expect(told).toEqual([["blue-elephant"], ["red-giraffe"], null, null]);

  const { db } = h.services.database;
  const people = ["telegram:42", "web:42", `web:${slug}:telegram:42`, "web:telegram:42"];
  expect((await db.select().from(userBudgetPeriods)).map(({ subject }) => subject).sort()).toEqual(people.sort());
  // Turns have the database's times.
  const [from, to] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
  const read = async (path: string) => (await h.request(`${path}from=${from}&to=${to}`, { headers })).json();
  const { usage } = await read("/api/analytics/usage?by=user&");
  expect(usage).toHaveLength(4);
  expect(usage).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ user: "42", userChannel: "telegram", turns: 1 }),
      expect.objectContaining({ user: "42", userChannel: "web", turns: 1 }),
    ]),
  );
  expect((await read("/api/analytics?")).overview.uniqueUsers).toBe(4);
});
