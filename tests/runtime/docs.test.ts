import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { startServer as start } from "../browser/server.ts";
import { startFakeProvider } from "../fake-provider.ts";
import { slackServer, slackTokens } from "../messengers/slack-server.ts";
import { telegramServer, telegramToken } from "../messengers/telegram-server.ts";
import { twilioAccount, twilioServer } from "../messengers/twilio-server.ts";
import { runScript } from "./curl.ts";
import { fillIn, type Page, readPages, root, textsIn, unsetVariables } from "./pages.ts";
import { dataDirectory } from "./program.ts";

const pages = readPages();

/** Configuration of other programs, and what a screen shows. */
const notOurs = ["", "haproxy", "ini", "nginx"];

/** A shell snippet with one of these is not run: it changes a machine, or goes to another one. Its syntax is checked. */
const elsewhere = [
  ...["docker", "sudo", "npm", "openssl rand -base64", "zip", "agent-engine"],
  "https://mcp.example.com",
];

const runsHere = (text: string) => !elsewhere.some((word) => text.includes(word));

test("every snippet is in a language that is checked here", () => {
  const languages = new Set(pages.flatMap(({ snippets }) => snippets.map(({ language }) => language)));
  expect([...languages].filter((name) => !["sh", "ts", "js", "json", "yaml", ...notOurs].includes(name))).toEqual([]);
  expect([...languages]).toEqual(expect.arrayContaining(["sh", "ts"]));
});

test("JSON and YAML parse", () => {
  for (const page of pages) {
    for (const text of textsIn(page, "json")) expect(() => JSON.parse(text), `${page.name}: ${text}`).not.toThrow();
    for (const text of textsIn(page, "yaml")) expect(() => parse(text), `${page.name}: ${text}`).not.toThrow();
  }
});

test("TypeScript of a page compiles, as one module", () => {
  // Inside the checkout, so that the packages of its node_modules are found.
  const directory = dataDirectory();
  const sources = pages.flatMap((page) => {
    const texts = textsIn(page, "ts");
    if (texts.length === 0) return [];
    const file = join(directory, page.name.replaceAll("/", "-").replace(/md$/, "mts"));
    writeFileSync(file, `${texts.join("\n")}\nexport {};\n`);
    return [file];
  });
  expect(sources.length).toBeGreaterThan(1);
  const options = {
    target: "es2024",
    module: "nodenext",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    paths: {
      "agent-engine/client": [join(root, "dist/client/index.d.ts")],
      "agent-engine/plugin": [join(root, "dist/plugin/plugins/plugin.d.ts")],
      openai: [join(root, "node_modules/openai/index.d.mts")],
    },
  };
  const project = join(directory, "tsconfig.json");
  writeFileSync(project, JSON.stringify({ compilerOptions: options, files: sources }));
  const { status, stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", project], { encoding: "utf8" });
  expect([status, stdout]).toEqual([0, ""]);
});

describe.each(pages.filter((page) => textsIn(page, "sh").length > 0))("the shell snippets of $name", (page) => {
  const texts = textsIn(page, "sh");

  test("are what a shell reads", () => {
    for (const input of texts) {
      const { status, stderr } = spawnSync("sh", ["-n"], { input, encoding: "utf8" });
      expect([status, stderr, input]).toEqual([0, "", input]);
    }
  });

  test("use no variable that the page has not set before", () => {
    expect(unsetVariables(texts)).toEqual([]);
  });
});

test("a variable counts as set from the line behind the one that sets it", () => {
  expect(unsetVariables(["A=1\nB=$A", "curl $B \x24{A%:*} $C", "export C=2\n$C"])).toEqual(["C"]);
});

const owner = { email: "owner@example.com", password: "correct horse battery" };

type Api = (method: string, path: string, json?: object, key?: string) => Promise<Response>;

/** The messengers that the server calls in place of the real ones. */
async function startMessengers() {
  const [telegram, slack, twilio] = await Promise.all([telegramServer(), slackServer(), twilioServer()]);
  onTestFinished(async () => {
    await Promise.all([telegram, slack, twilio].map((one) => one.close()));
  });
  const bases = {
    TELEGRAM_API_BASE_URL: telegram.base,
    SLACK_API_BASE_URL: slack.base,
    TWILIO_API_BASE_URL: twilio.base,
  };
  return { telegram, bases };
}

/** A server with an owner, whose agents of the provider `openai` get their answers from this test. */
async function startServer() {
  const { telegram, bases } = await startMessengers();
  const chunk = { choices: [{ index: 0, delta: { content: "Three minutes." }, finish_reason: "stop" }] };
  const provider = await startFakeProvider({ stream: [`data: ${JSON.stringify(chunk)}\n\n`, "data: [DONE]\n\n"] });
  const server = await start({
    OWNER_EMAIL: owner.email,
    OWNER_PASSWORD: owner.password,
    OPENAI_BASE_URL: provider.url,
    METRICS_TOKEN: metricsToken,
    ...bases,
  });
  const call = async (method: string, path: string, json?: object, bearer?: string) => {
    const headers = {
      "Content-Type": "application/json",
      ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
    };
    const body = json && JSON.stringify(json);
    const response = await fetch(`${server.url}${path}`, { method, headers, ...(body ? { body } : {}) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const { token } = await (await call("POST", "/api/auth/sign-in/email", owner)).json();
  const keys = "/api/organizations/default/management-keys";
  const { key } = await (await call("POST", keys, { name: "docs" }, token)).json();
  const api: Api = (method, path, json, bearer = key) => call(method, path, json, bearer);
  return { url: server.url, key: key as string, api, provider, telegram };
}

type Server = Awaited<ReturnType<typeof startServer>>;

const metricsToken = "the-token-of-the-docs";
const agentKey = "the-key-of-the-agent-of-the-docs";

/** The agents that pages speak of, anew for each page, with one conversation that waits for a decision and one that ended. */
async function makeAgents({ api, key }: Server): Promise<Record<string, string>> {
  for (const slug of ["assistant", "refunds"]) {
    const { instances } = await (await api("GET", "/api/instances")).json();
    if (instances.some((agent: { slug: string }) => agent.slug === slug)) await api("DELETE", `/api/instances/${slug}`);
    await api("POST", "/api/instances", { slug, model: "demo:demo" });
  }
  const own = "/api/instances/assistant";
  const config = { apiKey: agentKey, requireAuthentication: true };
  await api("PUT", `${own}/channels/web`, { enabled: true, config });
  await api("PATCH", `${own}/tools`, { enabled: ["currentTime"], needsApproval: ["currentTime"] });
  const say = async (content: string, chat_id: string) => {
    const body = { messages: [{ role: "user", content }], chat_id };
    return (await api("POST", `${own}/chat/stream`, body, agentKey)).text();
  };
  expect(await say("call currentTime {}", "42")).toContain('"approval"');
  // The stream of a call that waits would stay open when it is resumed.
  const events = await say("Hello", "41");
  const { members } = await (await api("GET", "/api/organizations/default/members")).json();
  const { workspaces } = await (await api("GET", "/api/organizations/default/workspaces")).json();
  return {
    KEY: key,
    AGENT_API_KEY: agentKey,
    OPENAI_API_KEY: "sk-of-the-docs",
    GITHUB_TOKEN: "github_pat_of-the-docs",
    SENDER_KEY: "the-key-of-a-sender-of-the-docs",
    PASSWORD: owner.password,
    METRICS_TOKEN: metricsToken,
    TRACING_API_KEY: "pk-lf-of-the-docs:sk-lf-of-the-docs",
    LAST: /^id: (.*)$/m.exec(events)?.[1] ?? "",
    MEMBER: members[0].userId,
    WORKSPACE: workspaces[0].id,
    TELEGRAM_BOT_TOKEN: telegramToken,
    SLACK_BOT_TOKEN: slackTokens.botToken,
    SLACK_SIGNING_SECRET: slackTokens.signingSecret,
    SLACK_APP_TOKEN: slackTokens.appToken,
    TWILIO_ACCOUNT_SID: twilioAccount.accountSid,
    TWILIO_AUTH_TOKEN: twilioAccount.authToken,
    TWILIO_API_KEY_SID: twilioAccount.apiKeySid,
    TWILIO_API_KEY_SECRET: twilioAccount.apiKeySecret,
  };
}

/** The id of a reply that Telegram refused. */
async function makeFailedReply({ api, telegram }: Server): Promise<string> {
  const own = "/api/instances/assistant";
  await api("PATCH", own, { debounceMs: 0 });
  await api("PUT", `${own}/channels/telegram`, { enabled: true, config: { botToken: telegramToken } });
  const refusal = { ok: false, error_code: 403, description: "Forbidden: bot was blocked by the user" };
  telegram.fail("/sendMessage", { status: 403, json: refusal });
  await telegram.say("Hello");
  const failed = `${own}/channels/telegram/messages?direction=out&status=failed`;
  const list = async () => (await (await api("GET", failed)).json()).messages as { id: string }[];
  await expect.poll(list).toHaveLength(1);
  return (await list())[0]?.id ?? "";
}

/** The addresses of servers in the pages. */
const addresses = /http:\/\/localhost:4000|https:\/\/agents.example.com/g;

const calling = (page: Page) => {
  const texts = textsIn(page, "sh").filter(runsHere);
  return texts.some((text) => text.includes("curl ")) ? [{ ...page, texts }] : [];
};

test("the calls of every page do on the built server what the page says", async () => {
  const server = await startServer();
  for (const { name, texts } of pages.flatMap(calling)) {
    const values = await makeAgents(server);
    if (texts.join().includes("/retry")) Object.assign(values, { ID: await makeFailedReply(server) });
    const script = fillIn(texts.join("\n"), values).replaceAll(addresses, server.url);
    const { calls, ...ending } = await runScript(script, { directory: dataDirectory(), origin: server.url });
    const refused = calls.filter(({ status }) => status < 200 || status > 299);
    expect({ name, refused, ...ending }).toEqual({ name, refused: [], status: 0, stderr: "" });
    expect(calls.length, name).toBe(script.match(/\bcurl /g)?.length);
  }
  expect(server.provider.exchanges.map(({ headers }) => headers.authorization)).toEqual(["Bearer sk-of-the-docs"]);
});
