import { expect, test } from "vitest";
import { agents, channels, hooks } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { type Bundle, caller, canaries, fullAgent, shopSkill } from "./full-agent.ts";

const bundle = (instance: object, head: object = {}) => ({ version: "1.3", type: "instance", ...head, instance });
const hook = { event: "message_received", actionConfig: { toolName: "currentTime" } };

async function post(h: Harness, json: unknown, headers: Record<string, string>, path = "/api/instances/import") {
  const response = await h.request(path, { method: "POST", headers, json });
  return { status: response.status, body: (await response.json()) as { message: string; slug: string } };
}

const wrong: [string, unknown, string][] = [
  ["no object", [], "The body must be an object"],
  [
    "another version",
    bundle({ slug: "a" }, { version: "2.0" }),
    "version: must be one of: 1.0, 1.1, 1.2, 1.3, 1.4, 1.5",
  ],
  [
    "no version, no type",
    { instance: {} },
    "version: must be one of: 1.0, 1.1, 1.2, 1.3, 1.4, 1.5; type: must be instance",
  ],
  ["a skill", bundle({ slug: "a" }, { type: "skill" }), "type: must be instance"],
  ["no instance", { version: "1.3", type: "instance" }, "instance: must be an object"],
  ["no slug", bundle({}), "instance.slug: is required"],
  ["a wrong slug", bundle({ slug: "A b" }), "instance.slug: must be 1 to 128 of"],
  ["a reserved slug", bundle({ slug: "import" }), "instance.slug: must be 1 to 128 of"],
  ["an unknown embedder", bundle({ slug: "a", embedder: "acme:vectors" }), "instance.embedder: is no embedder"],
  ["an embedder that is none", bundle({ slug: "a", embedder: [1] }), "instance.embedder: is no embedder"],
  [
    "wrong types",
    bundle({ slug: "a", maxSteps: "7", prompts: {}, manualTools: [1], hooks: [{ event: 1, actionConfig: {} }] }),
    "instance.maxSteps: must be a whole number; instance.prompts: must be a list; instance.manualTools.0: must be a string; instance.hooks.0.event: must be one of",
  ],
  [
    "parts of another kind",
    bundle({ slug: "a", channels: "web", room: [], skills: {} }),
    "instance.skills: must be a list",
  ],
  [
    "NUL",
    bundle({ slug: "a", prompts: [{ key: "02-soul", content: "a\u0000" }] }),
    "instance.prompts.0.content: must not contain NUL",
  ],
  [
    "a half surrogate",
    bundle({ slug: "a", name: "\ud800" }),
    "instance.name: must not contain NUL or unpaired surrogates",
  ],
  [
    "a prompt twice",
    bundle({ slug: "a", prompts: [1, 2].map(() => ({ key: "02-soul", content: "" })) }),
    "instance.prompts: must not name a key twice",
  ],
  [
    "a channel twice",
    bundle({ slug: "a", channels: [1, 2].map(() => ({ channelType: "web" })) }),
    "instance.channels: must not name a channel twice",
  ],
  [
    "an unknown channel",
    bundle({ slug: "a", channels: [{ channelType: "pigeon" }] }),
    "instance.channels.0.channelType: must be one of",
  ],
  [
    "10,000 hooks",
    bundle({ slug: "a", hooks: Array.from({ length: 10_000 }, () => hook) }),
    "instance.hooks: must have at most 32 entries",
  ],
  [
    "a hook that replaces what it can't",
    bundle({ slug: "a", hooks: [{ ...hook, mutates: true }] }),
    "instance.hooks.0.mutates: only a hook on response_generated",
  ],
  [
    "an unknown placeholder",
    bundle({
      slug: "a",
      hooks: [{ ...hook, actionConfig: { toolName: "currentTime", args: { a: "{{secrets.x}}" } } }],
    }),
    "instance.hooks.0.actionConfig.args: knows no {{secrets.x}}",
  ],
  [
    "a picture that is none",
    bundle({ slug: "a", icon: "data:image/svg+xml;base64,PHN2Zz4=" }),
    "instance.icon: must be a data: address of a PNG",
  ],
  [
    "half a place",
    bundle({ slug: "a", room: { outboundChannel: "telegram" } }),
    "instance.room.outboundTarget: Set outboundTarget too",
  ],
  [
    "a schedule that can't be kept",
    bundle({
      slug: "a",
      scheduledTasks: [
        { name: "a", prompt: "b", schedule: { type: "cron", expression: "61 * * * *", timezone: "UTC" } },
      ],
    }),
    "instance.scheduledTasks.0.schedule: ",
  ],
  [
    "51 definitions",
    bundle({
      slug: "a",
      eventSources: [
        {
          name: "a",
          sourceType: "b",
          definitions: Array.from({ length: 51 }, () => ({ name: "a", matchingPrompt: "b", action: "backlog" })),
        },
      ],
    }),
    "instance.eventSources.0.definitions: must have at most 50 entries",
  ],
  [
    "a prototype as a mapping",
    JSON.parse(
      '{"version":"1.3","type":"instance","instance":{"slug":"a","channels":[{"channelType":"web","config":{"contextMapping":{"__proto__":"a"}}}]}}',
    ),
    "instance.channels.0.config.contextMapping.__proto__: this key can't be used",
  ],
];

test("a wrong bundle is refused by the names of its fields, and nothing is stored", async () => {
  const h = await harness();
  const headers = await h.as("owner");
  for (const [label, json, message] of wrong) {
    const { status, body } = await post(h, json, headers);
    expect([label, status, body.message]).toEqual([label, 400, expect.stringContaining(message)]);
  }
  expect(await h.services.database.db.$count(agents)).toBe(0);
});

test("a body that is no JSON, nested too deeply, or too large is refused before it is read", async () => {
  const h = await harness();
  const headers = { ...(await h.as("owner")), "Content-Type": "application/json" };
  const send = async (body: BodyInit, more: Record<string, string> = {}) => {
    const init = { method: "POST", headers: { ...headers, ...more }, body, duplex: "half" } as RequestInit;
    const response = await h.request("/api/instances/import", init);
    return [response.status, ((await response.json()) as { message: string }).message];
  };
  expect(await send("{")).toEqual([400, "The body is not valid JSON"]);
  expect(await send("")).toEqual([400, "The body is not valid JSON"]);
  expect(await send("version: 1.3", { "Content-Type": "text/yaml" })).toEqual([
    ...[415, "Content-Type must be application/json"],
  ]);
  expect(await send(`${"[".repeat(1_000_000)}`)).toEqual([
    ...[400, "The body is refused: it is nested more than 64 levels deep"],
  ]);
  expect(await send(`[${"0,".repeat(300_000)}0]`)).toEqual([
    ...[400, "The body is refused: it holds more than 200000 values"],
  ]);
  const limit = 8 * 1024 * 1024;
  const tooLarge = [413, `The body may have at most ${limit} bytes`];
  expect(await send("x".repeat(limit + 1), { "Content-Length": String(limit + 1) })).toEqual(tooLarge);
  // Of 100 MiB without a length only the limit is read, and 16 MiB for the client's sake.
  let read = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      read += 1;
      if (read > 100) controller.close();
      else controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
    },
  });
  expect(await send(endless)).toEqual(tooLarge);
  expect(read).toBeLessThan(15 + 16);
  expect(await h.services.database.db.$count(agents)).toBe(0);
});

test("fields that a bundle does not have are left out with a warning that says what may be meant", async () => {
  const h = await harness();
  const call = caller(h, await h.as("owner"));
  const text = JSON.stringify({
    ...bundle({
      slug: "a",
      modle: "demo",
      workspaceId: "x",
      prompts: [{ key: "02-soul", content: "b", title: "c" }],
      hooks: [{ event: "message_received", actionConfig: { toolName: "currentTime", arg: {} }, positon: 1 }],
      scheduledTasks: [{ name: "n", prompt: "p", schedule: { type: "interval", everyMs: 60_000, timezone: "UTC" } }],
      channels: [{ channelType: "telegram", config: { allowedUserId: "1" } }],
      room: { promt: "x" },
    }),
    $schema: "https://example.com/agent.schema.json",
    extra: true,
  }).replace('"extra":true', '"extra":true,"__proto__":{"slug":"b"},"constructor":1');
  const { warnings } = await call("POST", "/api/instances/import", JSON.parse(text) as object);
  expect(warnings.map(({ type, path, message }) => `${type} ${path}: ${message}`).sort()).toEqual([
    "unknown_field __proto__: __proto__ is no field of a bundle: it is left out",
    "unknown_field constructor: constructor is no field of a bundle: it is left out",
    "unknown_field extra: extra is no field of a bundle: it is left out",
    "unknown_field instance.channels.0.config.allowedUserId: allowedUserId is no field of a bundle; did you mean allowedUserIds?",
    "unknown_field instance.hooks.0.actionConfig.arg: arg is no field of a bundle; did you mean args?",
    "unknown_field instance.hooks.0.positon: positon is no field of a bundle; did you mean position?",
    "unknown_field instance.modle: modle is no field of a bundle; did you mean model?",
    "unknown_field instance.prompts.0.title: title is no field of a bundle: it is left out",
    "unknown_field instance.room.promt: promt is no field of a bundle; did you mean prompt?",
    "unknown_field instance.scheduledTasks.0.schedule.timezone: timezone is no field of a bundle: it is left out",
    "unknown_field instance.workspaceId: workspaceId is no field of a bundle: it is left out",
  ]);
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
  const capped = await call("POST", "/api/instances/import", bundle({ slug: "b", ...many }));
  expect(capped.warnings).toHaveLength(51);
  expect(capped.warnings.at(-1)?.message).toBe("There are 4950 more fields that a bundle does not have");
});

test("no import stores a credential, wherever the bundle has it", async () => {
  const h = await harness();
  const call = caller(h, await h.as("owner"));
  const { db } = h.services.database;
  await shopSkill(h, call);
  const { warnings } = await call(
    "POST",
    "/api/instances/import",
    bundle({
      slug: "a",
      skills: [{ skillSlug: "shop" }],
      skillEnv: [{ skillSlug: "shop", env: [{ key: "SHOP_TOKEN", sensitive: false, value: canaries.skill }] }],
      secrets: [{ key: "openai_api_key", configured: true, value: canaries.provider }],
      channels: [
        { channelType: "web", enabled: true, config: { apiKey: canaries.authKey } },
        { channelType: "telegram", enabled: true, config: { botToken: canaries.telegram, allowedUserIds: "1" } },
      ],
      eventSources: [{ name: "s", sourceType: "t", authKey: canaries.sender, webhookToken: "w".repeat(43) }],
    }),
  );
  const ignored = warnings.filter(({ type }) => type === "credential_ignored").map(({ path }) => path);
  expect(ignored.sort()).toEqual([
    "instance.channels.0.config.apiKey",
    "instance.channels.1.config.botToken",
    "instance.eventSources.0.authKey",
    "instance.eventSources.0.webhookToken",
    "instance.secrets.0.value",
    "instance.skillEnv.0.env.0.value",
  ]);
  for (const canary of Object.values(canaries)) expect(JSON.stringify(warnings)).not.toContain(canary);
  const { instance } = await call<Bundle>("GET", "/api/instances/a/export");
  expect(instance).toMatchObject({ secrets: [], skillEnv: [], eventSources: [{ authKeyConfigured: false }] });
  expect(await db.select({ enabled: channels.enabled }).from(channels)).not.toContainEqual({ enabled: true });
});

test("a bundle changes no part that the caller could not change by its own route", async () => {
  const h = await harness();
  const { call, path } = await fullAgent(h);
  const { db } = h.services.database;
  const member = await h.as("member");
  const whole = await call<Bundle>("GET", `${path}/export`);
  const lacking = { status: 403, body: { message: "Missing permission: agent.governance:write" } };

  expect(await post(h, whole, member)).toMatchObject(lacking);
  expect(await db.$count(agents)).toBe(1);
  // Not even by leaving them out.
  const { hooks: _none, ...instance } = whole.instance;
  expect(await post(h, bundle(instance), member, `${path}/import`)).toMatchObject(lacking);
  expect(await db.$count(hooks)).toBe(3);
  // Unchanged hooks need no permission, and neither does an agent without hooks.
  const same = { ...whole.instance, name: "Renamed" };
  expect(await post(h, bundle(same), member, `${path}/import`)).toMatchObject({ status: 201, body: { slug: "shop" } });
  // Their positions define the order in which they run, not their indexes in the list.
  const listed = { ...same, hooks: whole.instance.hooks.toSorted((a, b) => Number(b.position) - Number(a.position)) };
  expect(listed.hooks).not.toEqual(whole.instance.hooks);
  expect(await post(h, bundle(listed), member, `${path}/import`)).toMatchObject({ status: 201 });
  expect(await post(h, bundle(instance), member)).toMatchObject({ status: 201 });

  const viewer = await h.as("viewer");
  expect(await post(h, whole, viewer)).toMatchObject({ body: { message: "Missing permission: agent:write" } });
  const exported = await h.request(`${path}/export`, { headers: viewer });
  expect(exported.status).toBe(403);
  const outside = await h.as("member", { reach: false });
  expect((await post(h, whole, outside, `${path}/import`)).status).toBe(404);
  const other = await h.createOrganization("other");
  const stranger = await h.as("owner", { organization: other });
  expect((await post(h, whole, stranger, `${path}/import`)).status).toBe(404);
  // The slug of another organization's agent is taken too, and the skill doesn't exist there.
  const elsewhere = await post(h, whole, stranger);
  expect(elsewhere).toMatchObject({ status: 201, body: { slug: "shop-imported-2" } });
});
