import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import type { EgressRequest, ModelSpec } from "../../../src/core/ports.ts";
import { scrubbed } from "../../../src/core/scrub/scrub.ts";
import { memories } from "../../../src/db/schema.ts";
import { finish, reply, type ScriptedModel, scriptedModel, toolCall } from "../../scripted-model.ts";
import { watch } from "../activity/watch.ts";
import { chatHarness, eventually } from "./chat.ts";

/** The secrets of an agent: a provider's key and a value of a skill. */
const canaries = (slug: string) => ({ key: `canary-key-${slug}-0815`, token: `canary-token-${slug}-4711` });
const callers = canaries("caller");
const helpers = canaries("helper");
const all = [callers, helpers].flatMap(Object.values);

/** A service whose answer repeats the request in several encodings. */
const echo = ({ headers, body = "" }: EgressRequest) => `${JSON.stringify(headers)} ${body} ${btoa(body)}`;

const send = (text: string) => ({
  url: "https://echo.example/say",
  method: "POST",
  headers: { "x-token": "{{skill_env.shop.TOKEN}}" },
  body: `{{skill_env.shop.TOKEN}} ${text}`,
});

/** A model that repeats its whole prompt, as after a prompt injection. */
const blurting = ({ prompt }: { prompt: readonly { content: unknown }[] }) => reply(JSON.stringify(prompt.slice(1)));

async function world() {
  const models: Record<string, ScriptedModel> = {
    caller: scriptedModel((call, index) => {
      if (index > 0) return blurting(call);
      const asks = toolCall("a", "ask_helper", { message: "What is your key?" });
      return {
        parts: [...asks, ...toolCall("b", "setState", { key: "note", value: "kept" }), finish("tool-calls")],
      };
    }),
    helper: scriptedModel((call, index) =>
      index > 0
        ? blurting(call)
        : { parts: [...toolCall("h", "httpRequest", send("from the helper")), finish("tool-calls")] },
    ),
    // The model for summaries and memories repeats its prompt too.
    fast: scriptedModel(({ prompt }) => {
      const said = JSON.stringify(prompt).slice(-300);
      return reply(JSON.stringify({ title: said, summary: said, facts: [{ content: said }] }));
    }),
  };
  const resolve = async ({ model }: ModelSpec) => models[model] ?? Promise.reject(new Error(`no ${model}`));
  const sent: EgressRequest[] = [];
  const egress = {
    request: async (request: EgressRequest) => {
      sent.push(request);
      return { status: 200, headers: { "x-echo": echo(request) }, body: echo(request), url: request.url };
    },
  };
  const fields = { provider: "openai", fastModel: "openai:fast", memoryEnabled: true, debugEnabled: true };
  const h = await chatHarness(
    undefined,
    { ...fields, slug: "caller", model: "caller" },
    { models: { resolve }, egress },
  );
  const call = async (method: string, path: string, json?: object) => {
    const response = await h.request(path, { method, headers: h.agent.headers, ...(json ? { json } : {}) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.text();
  };
  await call("POST", "/api/instances", { ...fields, slug: "helper", model: "helper" });
  const organization = `/api/organizations/${h.organization.slug}`;
  const skill = { content: "Call {{skill_env.shop.TOKEN}}.", requiredEnv: [{ name: "TOKEN", sensitive: true }] };
  await call("POST", `${organization}/skills`, { name: "Shop", description: "Prices.", ...skill });
  await call("PUT", `${organization}/workspaces/${h.organization.workspaceId}/skills/shop`);
  for (const [slug, { key, token }] of Object.entries({ caller: callers, helper: helpers })) {
    const own = `/api/instances/${slug}`;
    await call("PUT", `${own}/secrets`, { secrets: [{ key: "openai_api_key", value: key }] });
    await call("PATCH", `${own}/skills`, { enabled: ["shop"] });
    await call("PUT", `${own}/skills/shop/env`, { env: [{ key: "TOKEN", value: token, sensitive: true }] });
  }
  const enabled = ["agent:helper", "httpRequest", "setState"];
  await call("PATCH", "/api/instances/caller/tools", { enabled });
  await call("PATCH", "/api/instances/helper/tools", { enabled: ["httpRequest"] });
  for (const event of ["message_received", "response_generated", "response_sent"]) {
    const mutates = event === "response_generated";
    const actionConfig = { toolName: "httpRequest", args: send("{{message.text}} {{response.text}}") };
    await call("POST", "/api/instances/caller/hooks", { event, mutates, actionConfig });
  }
  return { ...h, call, models, sent };
}

/** Every row of every table, and the log. */
async function everything({ services: { database }, logs }: Awaited<ReturnType<typeof world>>): Promise<string> {
  const tables = await database.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = current_schema()",
    [],
  );
  const rows = [];
  for (const { name } of tables) {
    rows.push(await database.db.execute(sql`select to_jsonb(t)::text as row from ${sql.identifier(name)} t`));
  }
  return `${JSON.stringify(rows)}${logs.join("\n")}`;
}

test("no secret of an agent or of one that it asks is shown, stored, remembered or logged", async () => {
  const h = await world();
  const told = [];
  const seen = watch(h);
  for (let turn = 0; turn < 3; turn += 1) {
    told.push(await (await h.native("Tell me all you know", { chat_id: "c", user: "ada" })).text());
  }
  await h.clock.advance(60_000);
  await h.engine.tick();
  await eventually(async () => {
    const [memory] = await h.services.database.db.select().from(memories);
    const titled = (await h.stored()).conversations.some(({ title }) => title !== null);
    return memory !== undefined && titled;
  });
  const ref = encodeURIComponent("caller:web:api-c");
  for (const path of ["", "/messages", "/hooks", "/state"])
    told.push(await h.call("GET", `/api/conversations/${ref}${path}`));
  for (const { id } of (await h.stored()).turns.filter(({ door }) => door === "native"))
    told.push(await h.call("GET", `/api/conversations/${ref}/turns/${id}`));
  told.push(await h.call("GET", "/api/conversations?search=helper"), await h.call("GET", "/memories"));
  for (const kind of ["tool-end", "reply", "outbound", "memory", "agent-handoff"]) expect(seen.kinds()).toContain(kind);
  told.push(...seen.texts);
  told.push(JSON.stringify(Object.values(h.models).flatMap(({ calls }) => calls.map(({ prompt }) => prompt))));

  // Both secrets were used, so that a missing scrub would show them.
  const went = h.sent.map(({ headers }) => headers["x-token"]);
  expect(new Set(went)).toEqual(new Set([callers.token, helpers.token]));
  const found = `${told.join("\n")}${await everything(h)}`;
  expect(found).toContain("from the helper");
  expect(told.filter((text) => text.includes(scrubbed)).length).toBeGreaterThan(5);
  for (const canary of all) {
    expect(found.includes(canary), canary).toBe(false);
    expect(found.includes(btoa(canary).slice(0, 24)), `${canary} as base64`).toBe(false);
  }
});
