import { expect, test } from "vitest";
import { runScript } from "./curl.ts";
import { chat, dataDirectory, quickstart } from "./program.ts";

test("from nothing to a reply, and again on the same data", async () => {
  const environment = { DATA_DIR: dataDirectory() };
  const first = await quickstart(environment);
  const shown = first.stdout().match(/^ +export AGENT_API_KEY=.*?(?=\n\n)/ms)?.[0] ?? "";
  const { calls } = await runScript(shown, { directory: dataDirectory(), origin: first.url });
  expect(calls.map(({ status, answer }) => ({ status, ...JSON.parse(answer) }))).toMatchObject([
    {
      status: 200,
      model: "assistant",
      choices: [{ message: { role: "assistant", content: expect.stringContaining("Hello") } }],
    },
  ]);
  expect(first.stdout()).toContain("is no language model");

  const signIn = await fetch(`${first.url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: first.email, password: first.password }),
  });
  expect(signIn.status).toBe(200);
  const { token } = (await signIn.json()) as { token: string };
  for (const secret of [first.key, first.password, token]) {
    expect(secret.length).toBeGreaterThan(12);
    expect(first.stderr()).not.toContain(secret);
  }
  first.child.kill("SIGTERM");
  expect(await first.ended).toBe(0);

  const second = await quickstart(environment);
  expect(second.stdout()).not.toContain(first.key);
  expect(second.stdout()).not.toContain("Password");
  expect(second.stdout()).toContain("With the key in AGENT_API_KEY, in another terminal:\n\n  curl http");
  expect(second.stdout()).toMatch(/Key +shown when it was made; agent-engine quickstart --new-key/);
  expect((await chat({ url: second.url, key: first.key, text: "Hi" })).status).toBe(200);
  second.child.kill("SIGINT");
  expect(await second.ended).toBe(0);

  const third = await quickstart(environment, "--new-key");
  expect((await chat({ url: third.url, key: first.key, text: "Hi" })).status).toBe(401);
  expect((await chat({ url: third.url, key: third.key, text: "Hi" })).status).toBe(200);
});

test("flags choose owner, agent and model; a bad one ends the server with one line", async () => {
  const environment = {
    DATA_DIR: dataDirectory(),
    OWNER_EMAIL: "env@example.com",
    OWNER_PASSWORD: "from the environment",
  };
  const server = await quickstart(environment, "--email=me@example.com", "--slug=tea.house", "--model=demo:demo");
  expect(server.email).toBe("me@example.com");
  expect(server.stdout()).not.toContain("from the environment");
  expect(server.stdout()).toContain('"model":"tea.house"');
  const models = await fetch(`${server.url}/v1/models`, { headers: { Authorization: `Bearer ${server.key}` } });
  expect(await models.json()).toMatchObject({ data: [{ id: "tea.house" }] });
  server.child.kill("SIGTERM");
  await server.ended;

  const refused = quickstart(environment, "--slug=Not A Slug");
  await expect(refused).rejects.toThrow(/\nagent-engine: slug.*\n$/);
});
