import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { apply } from "../../../src/cli/apply.ts";
import { patientFetch } from "../../../src/cli/target/open.ts";
import { defaultContent } from "../../../src/features/prompts/sections.ts";
import { directory } from "./directory.ts";
import { type Run, run, type World, world } from "./world.ts";

const agent = (slug: string, ...lines: string[]) =>
  ["version: 1.3", "type: instance", "instance:", `  slug: ${slug}`, ...lines.map((line) => `  ${line}`), ""].join(
    "\n",
  );

const three = {
  "agents/a.yaml": agent("a"),
  "agents/b.yaml": agent("b", "secrets: [{ key: my_token, fromEnv: TOKEN }]"),
  "agents/c.yaml": agent("c"),
};

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
}

/** The address of a proxy in front of the server, which answers 502 itself when `fails` says so. */
function inFront(w: World, fails: (path: string) => Promise<boolean>): Promise<string> {
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? "/";
    if (await fails(path)) return void response.writeHead(502).end("<html>Bad gateway</html>");
    const answer = await w.request(path, {
      method: request.method ?? "GET",
      headers: request.headers as Record<string, string>,
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  return listen(proxy);
}

test("reports what was done when a server fails halfway, and the next run does the rest", async () => {
  const w = await world();
  let broken = "/api/instances/import";
  let calls = 0;
  const url = await inFront(w, async (path) => path.startsWith(broken) && ++calls === 2);
  const root = directory(three);
  const failed = await w.apply(root, { url }, { TOKEN: "token-012345" });
  expect(failed.code).toBe(1);
  expect(failed.notes.split("\n")).toEqual([
    expect.stringMatching(/^Failed: HTTP 502 Bad Gateway, from something in front of Agent Engine.* \(HTTP 502\)$/),
    "Done before: agent a.",
    "Not done: agent b, agent c. Run the command again when the cause is gone.",
    "",
  ]);
  broken = "/api/instances/b/secrets";
  calls = 1;
  const half = await w.apply(root, { url, json: true }, { TOKEN: "token-012345" });
  expect(JSON.parse(half.out)).toMatchObject({ ok: false, done: [], error: expect.stringMatching(/HTTP 502/) });
  expect(half.notes).toMatch(
    /Done before: nothing\.\nImported, but perhaps without all its credentials: agent b\.\nNot done: agent c\./,
  );
  const rest = await w.apply(root, { url }, { TOKEN: "token-012345" });
  expect(rest).toMatchObject({
    code: 0,
    notes: "",
    out: expect.stringMatching(/agent b: updated\nagent c: created\n$/),
  });
});

test("shows warnings even if a run fails later", async () => {
  const w = await world();
  let calls = 0;
  const url = await inFront(w, async (path) => path.startsWith("/api/instances/import") && ++calls === 2);
  const root = directory({ "agents/a.yaml": agent("a", "manualTools: [noSuchTool]"), "agents/b.yaml": agent("b") });
  const failed = await w.apply(root, { url });
  expect(failed.code).toBe(1);
  expect(failed.notes).toMatch(
    /^Warning: a: The agent can't have the tool noSuchTool: it is left out\nFailed: HTTP 502/,
  );
  expect(failed.notes).toContain("Done before: agent a.");
});

test("a field that the server did not apply is no success", async () => {
  const w = await world();
  const root = directory({
    "agents/a.yaml": agent("a", "manualTools: [noSuchTool]", "skills: [{ skillSlug: nowhere }]"),
  });
  const result = await w.apply(root);
  expect(result.code).toBe(1);
  expect(result.notes).toMatch(/^Warning: a: The agent can't have the tool noSuchTool: it is left out$/m);
  expect(result.notes).toMatch(/^Warning: a: The catalogue has no skill nowhere: it is left out$/m);
  expect(result.notes).toMatch(
    /^The server did not take all of a:\n {4}\+ skills\[nowhere\].*\n {4}\+ manualTools: "noSuchTool"$/m,
  );
});

test("a slug of another organization is left alone", async () => {
  const w = await world();
  const other = await w.createOrganization("other");
  const theirs = await w.as("owner", { organization: other });
  await w.request("/api/instances", { method: "POST", headers: theirs, json: { slug: "b" } });
  const result = await w.apply(directory(three), {}, { TOKEN: "token-012345" });
  expect(result.notes).toMatch(
    /^Failed: The slug b is taken by an agent of this installation that the key does not reach$/m,
  );
  expect((await w.get("/api/instances")).instances).toMatchObject([{ slug: "a" }]);
  // Agents that no file names may not be deleted then either.
  expect(await w.apply(directory({ "agents/a.yaml": agent("a") }), { prune: true, yes: true })).toMatchObject({
    code: 0,
  });
  expect((await w.request("/api/instances/b", { headers: theirs })).status).toBe(200);
});

test("of two runs that create an agent at the same time one does, and the other is told", async () => {
  const w = await world();
  const url = await inFront(w, async (path) => {
    const isImport = path.startsWith("/api/instances/import");
    if (isImport) await w.request("/api/instances", { method: "POST", headers: w.owner, json: { slug: "a" } });
    return false;
  });
  const root = directory({ "agents/a.yaml": agent("a") });
  const slower = await w.apply(root, { url });
  expect(slower).toMatchObject({
    code: 1,
    notes: expect.stringMatching(/^Failed: Somebody else made the agent a meanwhile$/m),
  });
  expect((await w.get("/api/instances")).instances).toMatchObject([{ slug: "a" }]);
  expect(await w.apply(root, { url })).toMatchObject({ code: 0, notes: "" });
});

test("the matcher asks definitions of one priority in the order of the file", async () => {
  const w = await world();
  const matched = (...names: string[]) => {
    const definitions = names.map((name) => `{ name: ${name}, matchingPrompt: q, action: backlog, priority: 5 }`);
    const source = `  - { name: s, sourceType: x, definitions: [${definitions}, { name: first, matchingPrompt: q, action: backlog, priority: 1 }] }`;
    return directory({ "agents/a.yaml": agent("a", "eventSources:", source) });
  };
  await w.apply(matched("b", "c"));
  expect(await w.apply(matched("b", "c"))).toMatchObject({ code: 0, out: expect.stringMatching(/^Nothing to do/) });
  expect(await w.apply(matched("c", "b"))).toMatchObject({
    code: 0,
    notes: "",
    out: expect.stringContaining('~ eventSources[s].definitions: ["first","b","c"] → ["first","c","b"]'),
  });
  expect(await w.apply(matched("c", "b"))).toMatchObject({ code: 0, out: expect.stringMatching(/^Nothing to do/) });
});

test("a definition behind the last priority is no difference", async () => {
  const w = await world();
  const definitions =
    "[{ name: b, matchingPrompt: q, action: backlog, priority: 9999 }, { name: c, matchingPrompt: q, action: backlog }]";
  const root = directory({
    "agents/a.yaml": agent("a", "eventSources:", `  - { name: s, sourceType: x, definitions: ${definitions} }`),
  });
  expect(await w.apply(root)).toMatchObject({ code: 0, notes: "" });
  expect(await w.apply(root)).toMatchObject({ code: 0, out: expect.stringMatching(/^Nothing to do/) });
});

test("refuses a skill of another name with the same slug before anything is done", async () => {
  const w = await world();
  const named = (name: string) => `type: skill\nname: ${name}\ndescription: d\ncontent: c\n`;
  await w.apply(directory({ "skills/refunds.yaml": named("Refunds") }));
  const root = directory({ "skills/a.yaml": named("Another"), "skills/refunds.yaml": named("refunds") });
  for (const flags of [{}, { "dry-run": true }]) {
    expect(await w.apply(root, flags)).toMatchObject({
      code: 1,
      out: "",
      notes:
        'skills/refunds.yaml:2:1: The skill refunds has the name "Refunds" on the server, and keeps it: use that\n',
    });
  }
  expect((await w.get(`/api/organizations/${w.organization.slug}/skills`)).skills).toMatchObject([{ slug: "refunds" }]);
});

test("shows an import's warnings, except for credentials that are stored right afterwards", async () => {
  const w = await world();
  const lines = [
    "secrets: [{ key: my_token, fromEnv: TOKEN }, { key: other_token }]",
    "eventSources: [{ name: s, sourceType: x, authKey: { fromEnv: TOKEN } }]",
  ];
  const warning = "Warning: a: The agent has no secret other_token: set it\n";
  const root = directory({ "agents/a.yaml": agent("a", ...lines) });
  expect(await w.apply(root, {}, { TOKEN: "token-012345" })).toMatchObject({ code: 0, notes: warning });
  const changed = directory({ "agents/a.yaml": agent("a", "description: changed", ...lines) });
  expect(await w.apply(changed, {}, { TOKEN: "token-012345" })).toMatchObject({ code: 0, notes: warning });
});

test("with --json, an error before the start is an object, too", async () => {
  const w = await world();
  const json = true;
  const named = (name: string) =>
    directory({ "skills/a.yaml": `type: skill\nname: ${name}\ndescription: d\ncontent: c\n` });
  await w.apply(named("A"));
  const objectOf = async ({ code, out }: Run) => [code, JSON.parse(out)];
  const refused = (error: RegExp) => [1, { ok: false, error: expect.stringMatching(error) }];
  expect(await objectOf(await w.apply(named("a"), { json }))).toEqual(refused(/has the name "A" on the server/));
  const root = directory(three);
  expect(await objectOf(await w.apply(root, { json, workspace: "none" }, { TOKEN: "token-012345" }))).toEqual(
    refused(/^There is no workspace none/),
  );
  for (const command of [w.apply, w.pull]) {
    const place = command === w.apply ? directory({ "agents/a.yaml": agent("a") }) : directory();
    expect(await objectOf(await command(place, { json, key: "aek_wrong" }))).toEqual(refused(/refuses the key/));
  }
  expect(await objectOf(await w.pull(root, { json, workspace: "none" }))).toEqual(refused(/^There is no workspace/));
  const broken = directory({ "agents/a.yaml": "a: [" });
  expect(await objectOf(await w.pull(broken, { json }))).toMatchObject([1, { ok: false, problems: [{}] }]);
});

test("a wrong command line, key, address, organization or workspace: one line that says what to do", async () => {
  const w = await world();
  const { url, key } = w;
  const root = directory(three);
  const environment = { TOKEN: "token-012345" };
  const noteOf = async (flags: Record<string, string | boolean>, more: Record<string, string> = {}) => {
    const { code, notes } = await run(apply, root, flags, { ...environment, ...more });
    return `${code} ${notes.trimEnd()}`;
  };
  const AGENT_ENGINE_KEY = key;
  expect(await noteOf({ url })).toBe("2 --url needs a management key of the organization: set AGENT_ENGINE_KEY to it");
  expect(await noteOf({ key })).toBe("2 --key is for a server: name it with --url");
  expect(await noteOf({ url, key, yes: true })).toBe("2 --yes is for --prune: nothing else asks");
  expect(await noteOf({ url: "localhost" }, { AGENT_ENGINE_KEY })).toMatch(/^2 --url /);
  expect(await noteOf({ url, key: "aek_wrong" })).toMatch(/^1 http.* refuses the key: set AGENT_ENGINE_KEY/);
  expect(await noteOf({ url: "http://127.0.0.1:2048", key })).toMatch(
    /^1 No server answers at http:\/\/127\.0\.0\.1:2048: /,
  );
  expect(await noteOf({ url, organization: "none" }, { AGENT_ENGINE_KEY })).toMatch(
    /^1 The key belongs to no organization none at/,
  );
  expect(await noteOf({ url, workspace: "none" }, { AGENT_ENGINE_KEY })).toBe(
    "1 There is no workspace none; there are: default",
  );
  expect(await noteOf({ url: await listen(createServer((_, answer) => void answer.end("hi"))), key })).toMatch(
    /^1 .*check --url$/,
  );
  const DATA_DIR = join(root, "none");
  expect(await noteOf({}, { DATA_DIR })).toMatch(
    /^1 There is no database in .* or name the server with --url and a management key$/,
  );
});

test("a member's session changes no more than the member may", async () => {
  const w = await world();
  await w.apply(directory({ "agents/a.yaml": agent("a") }));
  const session = (await w.as("member")).Authorization?.replace("Bearer ", "") ?? "";
  const root = directory({
    "agents/a.yaml": agent("a", "hooks: [{ event: message_received, actionConfig: { toolName: currentTime } }]"),
  });
  const result = await w.apply(root, { key: session });
  expect(result).toMatchObject({
    code: 1,
    notes: expect.stringMatching(
      /^Failed: Missing permission: agent\.governance:write \(HTTP 403\)\nDone before: nothing\./,
    ),
  });
});

test("a throttled call waits as long as the server says, and no redirect gets the key", async () => {
  const answers = [new Response("", { status: 429, headers: { "Retry-After": "0.01" } }), new Response("ok")];
  const waits: number[] = [];
  const seen: (RequestInit | undefined)[] = [];
  const call = patientFetch({
    fetch: async (_, init) => {
      seen.push(init);
      return answers.shift() ?? Response.error();
    },
    onWait: (seconds) => void waits.push(seconds),
  });
  expect(await (await call("http://localhost/")).text()).toBe("ok");
  expect(waits).toEqual([0.01]);
  expect(seen.every((init) => init?.redirect === "manual")).toBe(true);
  answers.push(new Response("", { status: 429, headers: { "Retry-After": "3600" } }));
  expect((await call("http://localhost/")).status).toBe(429);
});

test("another spelling by the server is no difference", async () => {
  const mislabelled =
    "data:image/jpeg;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const w = await world();
  const root = directory({
    "agents/odd.yaml": agent(
      "odd",
      "model: openai:gpt-5-mini",
      "fastModel: ' openai:gpt-5-mini '",
      "timezone: europe/rome",
      "description: '  spaces  '",
      "optoutStopKeywords: [' stop ', Basta]",
      "manualTools: [readSkill, readSkill]",
      "channels:",
      "  - channelType: web",
      "    config: { allowedOrigins: ['https://Shop.example/', 'https://shop.example:443'], contextMapping: { b: c, a: b } }",
      "  - { channelType: telegram, config: { allowedUserIds: '2, 1', transport: null } }",
      "  - { channelType: whatsapp, config: { whatsappNumber: '+390612345678' } }",
      "hooks:",
      "  - { event: response_sent, actionConfig: { toolName: currentTime } }",
      "  - { event: message_received, actionConfig: { toolName: currentTime, args: { z: 1, a: { c: 1, b: 2 } } } }",
      "  - { event: message_received, actionConfig: { toolName: currentTime }, position: 9 }",
      "  - { event: response_sent, actionConfig: { toolName: readSkill }, position: 1 }",
      `icon: '${mislabelled}'`,
      "prompts:",
      `  - { key: 03-tooling, content: ${JSON.stringify(defaultContent("03-tooling"))} }`,
      "  - { key: 02-soul, content: '' }",
      "room: { prompt: ' ', outboundChannel: telegram, outboundTarget: ' 42 ' }",
      "eventSources:",
      "  - { name: ' b ', sourceType: ' web ', definitions: [{ name: two, description: ' x ', action: backlog, priority: 5 }, { name: one, matchingPrompt: y, action: conversation }] }",
      "  - { name: a, sourceType: web, config: { b: 1, a: 2 } }",
      "scheduledTasks:",
      "  - { name: z, prompt: ' p ', schedule: { type: one-shot, runAt: 2035-01-01T09:00:00+01:00 } }",
      "  - { name: y, prompt: p, schedule: { type: cron, expression: ' 0  9 * * 1-5 ', timezone: europe/rome } }",
      "  - { name: x, prompt: p, schedule: { type: cron, expression: '@daily', timezone: UTC }, outboundTarget: ' ' }",
    ),
    "skills/odd.yaml":
      "type: skill\nname: ' Odd Skill! '\ndescription: d\ncontent: c\nrequiredTools: [readSkill, currentTime, readSkill]\nrequiredEnv: [{ name: T, hosts: [API.example.com] }]\n",
  });
  expect(await w.apply(root)).toMatchObject({ code: 0, notes: "" });
  expect(await w.apply(root, { "dry-run": true })).toMatchObject({ code: 0, notes: "" });
});
