import { expect, test } from "vitest";
import { basic } from "../../otlp-receiver.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { pair, traced } from "./traced.ts";

const hello = () => scriptedModel(() => reply("Hi."));

async function named(fields: Record<string, unknown> = {}) {
  const h = await traced(hello(), { fields });
  h.receiver.projects.set(basic(pair), "Support");
  const answer = async (response: Response) => ((await response.json()) as { warnings?: string[] }).warnings;
  const warned = () => h.logs.filter((line) => line.includes("tracingProject is") && line.includes('"level":"warn"'));
  return {
    ...h,
    answer,
    warned,
    read: async () => answer(await h.request(`/api/instances/${h.agent.slug}`, { headers: h.agent.headers })),
  };
}

test("a project that is not the key's is a warning in the agent's answer and in the log, once for a while", async () => {
  const h = await named();
  const wrong = 'tracingProject is "support", but tracing_api_key belongs to the project "Support": traces go there';
  expect(await h.answer(await h.patch({ tracingProject: "support" }))).toEqual([wrong]);
  expect(await h.read()).toEqual([wrong]);
  expect(h.warned()).toHaveLength(1);
  expect(h.warned()[0]).toContain("belongs to the project");
  // The backend was called once.
  expect(h.receiver.asked).toEqual([basic(pair)]);
  expect(await h.answer(await h.patch({ tracingProject: "Support" }))).toBeUndefined();
  expect(await h.read()).toBeUndefined();
});

test("a turn looks at the project too, and does not wait for it", async () => {
  const h = await named({ tracingProject: "Sales" });
  expect((await h.complete("Hello")).status).toBe(200);
  await eventually(async () => h.warned().length === 1);
  const [root] = await h.arrive(2);
  expect(root?.attributes["langfuse.observation.input"]).toBe("Hello");
});

test("an agent without a key, or that is not traced, sends no request", async () => {
  const h = await named();
  const { headers, slug } = h.agent;
  await h.request(`/api/instances/${slug}/secrets/tracing_api_key`, { method: "DELETE", headers });
  expect(await h.answer(await h.patch({ tracingProject: "Support" }))).toEqual([
    "tracingEnabled is on, but there is no tracing_api_key: nothing is traced",
  ]);
  expect((await h.complete("Hello")).status).toBe(200);
  expect(await h.answer(await h.patch({ tracingEnabled: false }))).toBeUndefined();
  expect(h.receiver.asked).toEqual([]);
  expect(h.counts()).toEqual({ sent: 0, dropped: 0 });
});

test("a value that is no pair of keys can't be stored", async () => {
  const h = await named();
  for (const value of [
    "sk-lf-secret-1",
    "pk-lf-1:",
    "sk-lf-secret-1:pk-lf-1",
    "pk-lf-1:sk-lf-1:more",
    "pk-lf-1:sk-lf 1",
  ]) {
    const refused = await h.secret(h.agent.slug, value);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("pk-…:sk-…")]);
  }
});

test("a backend that refuses the key, or is down, is reported; a slow one is not waited for", async () => {
  const h = await named();
  await h.secret(h.agent.slug, "pk-lf-other:sk-lf-other");
  expect(await h.answer(await h.patch({ tracingProject: "Support" }))).toEqual([
    "tracingProject could not be checked: The tracing backend refused tracing_api_key with 401",
  ]);
  h.receiver.answer("hang");
  await h.secret(h.agent.slug, "pk-lf-third:sk-lf-third");
  const slow = h.patch({ tracingProject: "Support" });
  await eventually(async () => h.receiver.asked.includes(basic("pk-lf-third:sk-lf-third")));
  await h.clock.advance(2_000);
  expect(await h.answer(await slow)).toEqual([
    "tracingProject could not be checked: the tracing backend has not answered yet",
  ]);
  await h.receiver.close();
  await h.secret(h.agent.slug, "pk-lf-fourth:sk-lf-fourth");
  expect(await h.answer(await h.patch({ tracingProject: "Support" }))).toEqual([
    "tracingProject could not be checked: The tracing backend cannot be reached (ECONNREFUSED)",
  ]);
  expect(h.logs.join("\n")).not.toMatch(/sk-lf-(other|third|fourth)/);
});
