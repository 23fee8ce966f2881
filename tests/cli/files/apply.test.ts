import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apply } from "../../../src/cli/apply.ts";
import { rooms } from "../../../src/db/schema.ts";
import { canaries, fullAgent } from "../../features/bundles/full-agent.ts";
import { directory, picture } from "./directory.ts";
import { read, run, world } from "./world.ts";

const support = `version: 1.3
type: instance
instance:
  slug: support
  model: demo:demo
  icon: ./support.png
  prompts:
    - key: 01-identity
      content: |
        You are the support of a shop.
        Be brief.
  skills: [{ skillSlug: refunds, autoLoad: true }]
  manualTools: [currentTime, "agent:sales"]
  secrets:
    - { key: auth_api_key, fromEnv: SUPPORT_KEY }
  skillEnv:
    - skillSlug: refunds
      env: [{ key: TOKEN, fromEnv: SHOP_TOKEN }, { key: PLACE, sensitive: false, fromEnv: PLACE }]
  channels:
    - { channelType: web, enabled: true }
    - { channelType: telegram, enabled: false, config: { botToken: { fromEnv: BOT } } }
  hooks:
    - { event: message_received, actionConfig: { toolName: currentTime } }
  room: { prompt: Watch the shop }
  eventSources:
    - name: shop
      sourceType: webhook
      authKey: { fromEnv: SHOP_KEY }
      definitions: [{ name: bug, description: a bug, action: backlog }]
  scheduledTasks:
    - { name: report, prompt: Report, schedule: { type: cron, expression: 0 8 * * *, timezone: UTC } }
`;

const refunds = `type: skill
name: Refunds
description: How to refund.
requiredEnv: [{ name: TOKEN }, { name: PLACE, sensitive: false }]
content: |
  # Refunds
  Ask first.
scripts:
  - { file: sum.js, content: "export default 1;" }
`;

const sales =
  "version: 1.3\ntype: instance\ninstance: { slug: sales, model: demo:demo, manualTools: [agent:support] }\n";

const files = {
  "agents/support.yaml": support,
  "agents/support.png": picture,
  "agents/sales.yml": sales,
  "skills/refunds.yaml": refunds,
};

const secrets = {
  SUPPORT_KEY: "key-of-support-0123456789",
  SHOP_TOKEN: "token-of-the-shop",
  SHOP_KEY: "key-of-the-shop-0123",
  BOT: `123456789:${"b".repeat(35)}`,
  PLACE: "Rome",
};

test("files become agents, and a second run finds nothing to do; a change is shown and made", async () => {
  const { url, ...w } = await world();
  const root = directory(files);
  expect(await w.apply(root)).toMatchObject({
    code: 1,
    out: "",
    notes: expect.stringMatching(/:15:7: The variable SUPPORT_KEY is not set/),
  });
  const dry = await w.apply(root, { "dry-run": true }, secrets);
  expect(dry).toMatchObject({ code: 3, notes: "" });
  expect((await w.get("/api/instances")).instances).toEqual([]);

  const first = await w.apply(root, {}, secrets);
  expect(first).toMatchObject({ code: 0, notes: "" });
  expect(first.out).toMatch(/^\+ agent support {2}\(agents\/support.yaml:4:3\)$/m);
  expect(first.out).toMatch(/^ {4}\+ secrets\[auth_api_key\]: "from SUPPORT_KEY"$/m);
  expect(first.out).toMatch(/3 to create, 0 to change, 1 to allow, 0 to delete, 0 unchanged\.\n/);
  const again = await w.apply(root, {}, secrets);
  expect(again).toMatchObject({
    code: 0,
    notes: "",
    out: `Nothing to do in acme at ${url}: 0 to create, 0 to change, 0 to delete, 3 unchanged.\n`,
  });
  expect(dry.out + first.out).not.toMatch(
    new RegExp(
      Object.values(secrets)
        .filter((value) => value !== "Rome")
        .join("|"),
    ),
  );

  const { instance } = (await w.get("/api/instances/support/export")) as { instance: Record<string, unknown> };
  expect(instance).toMatchObject({
    icon: expect.stringMatching(/^data:image\/png/),
    manualTools: ["agent:sales", "currentTime"],
    secrets: [{ key: "auth_api_key", configured: true }],
    skillEnv: [
      {
        env: [
          { key: "PLACE", value: "Rome" },
          { key: "TOKEN", configured: true },
        ],
      },
    ],
    eventSources: [{ name: "shop", authKeyConfigured: true }],
  });
  const { channels } = await w.get("/api/instances/support/channels");
  expect(channels).toMatchObject([
    { channelType: "web", enabled: true },
    { channelType: "telegram", config: { botToken: "••••bbbb" } },
    {},
    {},
    {},
  ]);

  writeFileSync(
    join(root, "agents/support.yaml"),
    support.replace("Be brief", "Be very brief").replace("[currentTime, ", "["),
  );
  writeFileSync(join(root, "skills/refunds.yaml"), refunds.replace("Ask first", "Ask twice"));
  const changed = await w.apply(root, {}, { ...secrets, BOT: `${secrets.BOT}c` });
  expect(changed).toMatchObject({ code: 0, notes: "" });
  expect(changed.out.split("\n")).toEqual([
    "~ skill refunds  (skills/refunds.yaml:2:1)",
    ..."    ~ content|        @@ -1 +1 @@|         # Refunds|        -Ask first.|        +Ask twice.".split("|"),
    "~ agent support  (agents/support.yaml:4:3)",
    "    ~ prompts[01-identity].content",
    ..."        @@ -1 +1 @@|         You are the support of a shop.|        -Be brief.|        +Be very brief.".split(
      "|",
    ),
    '    ~ skills[refunds].pinnedVersion: "0.1.0" → "the new one"',
    '    - manualTools: "currentTime"',
    '    ~ channels[telegram].config.botToken: "••••bbbb" → "from BOT"',
    `Organization acme at ${url}: 0 to create, 2 to change, 0 to delete, 1 unchanged.`,
    "skill refunds: updated",
    "agent support: updated",
    "",
  ]);
  expect(await w.apply(root, { "dry-run": true }, { ...secrets, BOT: `${secrets.BOT}c` })).toMatchObject({ code: 0 });
});

test("does not write secrets again that are stored already", async () => {
  const w = await world();
  const root = directory(files);
  await w.apply(root, {}, secrets);
  const updates = async () => ((await w.get("/api/audit-logs?action=agent.secret.update")).items as unknown[]).length;
  expect(await updates()).toBe(1);
  await w.apply(root, {}, secrets);
  expect(await updates()).toBe(1);
  await w.apply(root, {}, { ...secrets, SUPPORT_KEY: "another-key-0123456789" });
  expect(await updates()).toBe(2);
});

test("pulled files change nothing, contain no secret, and make the same agent elsewhere", async () => {
  const w = await world();
  await fullAgent(w);
  const root = directory();
  const pulled = await w.pull(root);
  expect(pulled).toMatchObject({ code: 0, notes: "" });
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("."));
  const all = names.map((name) => read(root, name)).join("\n");
  for (const canary of Object.values(canaries)) expect(all).not.toContain(canary);
  expect(await w.apply(root)).toMatchObject({ code: 0, notes: "", out: expect.stringMatching(/^Nothing to do/) });
  expect(await w.pull(root)).toMatchObject({ code: 0, out: expect.stringMatching(/^0 written/) });

  const other = await world();
  const made = await other.apply(root);
  expect(made.out).toMatch(/to create/);
  expect((await other.pull(root, { force: true })).code).toBe(0);
});

test("each agent has its own file, even if one slug is another one after a dot", async () => {
  const w = await world();
  const slugs = [".tea", "_.tea", "__.tea", "_tea"];
  for (const slug of slugs) await w.request("/api/instances", { method: "POST", headers: w.owner, json: { slug } });
  const root = directory();
  expect(await w.pull(root)).toMatchObject({ code: 0 });
  expect(readdirSync(join(root, "agents")).sort()).toEqual(["_.tea.yaml", "__.tea.yaml", "___.tea.yaml", "_tea.yaml"]);
  expect(await w.apply(root, { prune: true, "dry-run": true })).toMatchObject({ code: 0, notes: "" });
});

test("no file is named like a device of Windows, and each agent still has one of its own", async () => {
  const w = await world();
  const slugs = ["con", "_con", "nul.shop", "com1", "console", "com10"];
  for (const slug of slugs) await w.request("/api/instances", { method: "POST", headers: w.owner, json: { slug } });
  const root = directory();
  expect(await w.pull(root)).toMatchObject({ code: 0 });
  expect(readdirSync(join(root, "agents")).sort()).toEqual(
    ["__con.yaml", "_com1.yaml", "_con.yaml", "_nul.shop.yaml", "com10.yaml", "console.yaml"].sort(),
  );
  expect(await w.apply(root, { prune: true, "dry-run": true })).toMatchObject({ code: 0, notes: "" });
});

test("a pull replaces no file with other content, unless forced, and then keeps the names of variables", async () => {
  const w = await world();
  const root = directory(files);
  await w.apply(root, {}, secrets);
  await w.request("/api/instances/support", { method: "PATCH", headers: w.owner, json: { description: "By hand" } });
  const refused = await w.pull(root);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.notes).toBe(
    "agents/support.yaml says something else than the server; --force replaces it\nNothing was written.\n",
  );
  expect(read(root, "agents/support.yaml")).toBe(support);
  const forced = await w.pull(root, { force: true });
  expect(forced.code).toBe(0);
  const text = read(root, "agents/support.yaml");
  expect(text).toMatch(/description: By hand/);
  expect(text).toMatch(/- key: auth_api_key\n {6}fromEnv: SUPPORT_KEY/);
  expect(text).toMatch(/fromEnv: SHOP_TOKEN/);
  expect(text).toMatch(/fromEnv: PLACE/);
  expect(text).toMatch(/authKey:\n {8}fromEnv: SHOP_KEY/);
  expect(text).toMatch(/content: \|\n {8}You are the support of a shop\.\n {8}Be brief\.\n/);
  expect(await w.apply(root, {}, secrets)).toMatchObject({ code: 0, out: expect.stringMatching(/^Nothing to do/) });
});

test("--prune deletes what no file names: lists it, asks at a terminal, or requires --yes", async () => {
  const w = await world();
  const root = directory(files);
  await w.apply(root, {}, secrets);
  rmSync(join(root, "agents/sales.yml"));
  rmSync(join(root, "skills/refunds.yaml"));
  const used = await w.apply(root, { prune: true, "dry-run": true }, secrets);
  expect(used.out.match(/^- .*/gm)).toEqual(["- agent sales  (no file names it)"]);
  writeFileSync(join(root, "agents/support.yaml"), "version: 1.3\ntype: instance\ninstance: { slug: support }\n");
  expect(await w.apply(root)).toMatchObject({ code: 0 });
  const slugs = async () => ((await w.get("/api/instances")).instances as { slug: string }[]).map(({ slug }) => slug);
  expect(await slugs()).toEqual(["sales", "support"]);
  const unasked = await w.apply(root, { prune: true });
  expect(unasked.code).toBe(1);
  expect(unasked.out).toMatch(/^- agent sales {2}\(no file names it\)\n- skill refunds {2}\(no file names it\)$/m);
  expect(unasked.notes).toMatch(/would delete 2; add --yes/);
  const flags = { url: w.url, prune: true };
  const environment = { AGENT_ENGINE_KEY: w.key, NO_COLOR: "1" };
  expect(await run(apply, root, flags, environment, { terminal: true, answer: "no\n" })).toMatchObject({ code: 1 });
  expect(await slugs()).toEqual(["sales", "support"]);
  expect(await run(apply, root, flags, environment, { terminal: true, answer: "yes\n" })).toMatchObject({ code: 0 });
  expect(await slugs()).toEqual(["support"]);
  expect((await w.get("/api/organizations/acme/skills")).skills).toEqual([]);
  expect(await w.apply(join(root, "agents/support.yaml"), { prune: true, yes: true })).toMatchObject({
    code: 2,
    notes: "--prune is for a directory: one file names too little\n",
  });
});

test("replaces a target that an earlier release stored unchecked, and knows one in another spelling", async () => {
  const server = await world();
  const place = (target: string) => `{ prompt: Watch, outboundChannel: slack, outboundTarget: ${target} }`;
  const agent = (target: string) =>
    directory({ "shop.yaml": `version: 1.3\ntype: instance\ninstance: { slug: shop, room: ${place(target)} }\n` });
  const path = agent("C0123ABC/1767225600.000100");
  expect(await server.apply(path)).toMatchObject({ code: 0 });
  expect(await server.apply(path, { "dry-run": true })).toMatchObject({ code: 0 });
  await server.services.database.db.update(rooms).set({ outboundTarget: "#general" });
  expect((await server.pull(directory({}))).notes).toMatch(/outboundTarget:? must be the id of a channel/);
  expect(await server.apply(path)).toMatchObject({ code: 0 });
  expect(await server.get("/api/instances/shop/room")).toMatchObject({ outboundTarget: "C0123ABC:1767225600.000100" });
  expect((await server.apply(agent('"#general"'))).notes).toMatch(/outboundTarget:? must be the id of a channel/);
});
