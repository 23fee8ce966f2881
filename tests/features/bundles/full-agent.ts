import { expect } from "vitest";
import type { z } from "zod";
import type { BundledInstance } from "../../../src/features/bundles/schema.ts";
import type { Harness } from "../../harness.ts";

/** A picture by its first bytes. */
const png = Uint8Array.from(`\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR${"\0".repeat(17)}`, (character) =>
  character.charCodeAt(0),
);
export const icon = `data:image/png;base64,${btoa(String.fromCharCode(...png))}`;

/** Secrets, one in each place that may hold one. */
export const canaries = {
  authKey: "canary-auth-key-0123456789",
  provider: "canary-provider-0123456789",
  tracing: "pk-lf-canary-1234:sk-lf-canary-5678",
  telegram: `123456789:canary-${"t".repeat(30)}`,
  slack: "xoxb-canary-slack-token",
  signing: "c0ffee00c0ffee00c0ffee00c0ffee00",
  accountSid: `AC${"c".repeat(32)}`,
  twilio: "canary-twilio-auth-token",
  skill: "canary-skill-token-012345",
  sender: "canary-sender-key-0123456789",
};

/** The fields of answers that these tests read. */
interface Answer {
  id: string;
  slug: string;
  workspace: { id: string };
  secrets: unknown[];
  channels: unknown[];
  warnings: { type: string; message: string; path: string }[];
}

export interface Bundle {
  version: string;
  exportedAt: string;
  instance: z.output<typeof BundledInstance>;
}

export type Call = <T = Answer>(method: string, path: string, json?: unknown) => Promise<T>;

/** Calls of one caller that have to succeed. */
export function caller(h: Harness, headers: Record<string, string>): Call {
  return async <T>(method: string, path: string, json?: unknown) => {
    const response = await h.request(path, { method, headers, ...(json === undefined ? {} : { json }) });
    const text = await response.text();
    expect([200, 201], `${method} ${path}: ${text}`).toContain(response.status);
    return JSON.parse(text) as T;
  };
}

/** The skill of the fixture, in the catalogue and allowed in the workspace. */
export async function shopSkill(h: Harness, call: Call): Promise<void> {
  const skills = `/api/organizations/${h.organization.slug}/skills`;
  const requiredEnv = [
    { name: "SHOP_TOKEN", sensitive: true, hosts: ["shop.example"] },
    { name: "SHOP_URL", sensitive: false },
  ];
  const text = { description: "How to look up orders", content: "# Orders" };
  await call("POST", skills, { ...text, name: "shop", requiredEnv, requiredTools: ["httpRequest"] });
  await call("PUT", `${skills}/shop`, { ...text, content: "# Orders\n\nAsk first.", requiredEnv, requiredTools: [] });
  await call("PUT", `/api/organizations/${h.organization.slug}/workspaces/${h.organization.workspaceId}/skills/shop`);
}

/** An agent with content in every part of a bundle. */
export async function fullAgent(h: Harness, slug = "shop"): Promise<{ call: Call; path: string; slug: string }> {
  const call = caller(h, await h.as("owner"));
  const path = `/api/instances/${slug}`;
  await shopSkill(h, call);
  await call("POST", "/api/instances", {
    slug,
    name: "Shop",
    description: "Looks after orders.",
    provider: "demo",
    model: "demo",
    temperature: 0.25,
    maxSteps: 7,
    timezone: "Europe/Rome",
    tracingEnabled: true,
    tracingProject: "shop",
    debounceMs: 0,
    optoutEnabled: true,
    optoutStopKeywords: ["HALT", "FERMA"],
    optoutClosingMessage: "Goodbye.",
    monthlyTokenBudget: 5_000_000_000,
    userMonthlyTokenBudget: 1000,
    memoryEnabled: false,
  });
  await call("PUT", `${path}/icon`, { icon });
  await call("PATCH", `${path}/prompts`, {
    sections: [
      { key: "02-soul", content: "Be brief. Ünïcödé 🫖, and {{datetime}}." },
      { key: "04-safety", content: "" },
    ],
  });
  await call("PATCH", `${path}/skills`, { enabled: ["shop"] });
  await call("POST", `${path}/skills/shop/rollback`, { versionId: "0.1.0" });
  await call("POST", `${path}/skills/shop/auto-load`, { autoLoad: true });
  await call("PATCH", `${path}/tools`, {
    enabled: ["readSkill", "currentTime", "httpRequest"],
    needsApproval: ["httpRequest", "currentTime"],
  });
  await call("PUT", `${path}/skills/shop/env`, {
    env: [
      { key: "SHOP_TOKEN", value: canaries.skill },
      { key: "SHOP_URL", value: "https://shop.example" },
    ],
  });
  await call("PUT", `${path}/secrets`, {
    secrets: [
      { key: "openai_api_key", value: canaries.provider },
      { key: "tracing_api_key", value: canaries.tracing },
    ],
  });
  await channels(call, path);
  await hooks(call, path);
  await room(call, path);
  return { call, path, slug };
}

async function channels(call: Call, path: string): Promise<void> {
  await call("PUT", `${path}/channels/web`, {
    enabled: true,
    config: {
      apiKey: canaries.authKey,
      contextMapping: { customer: "customer.id", basket: "basket" },
      allowedOrigins: ["https://shop.example"],
    },
  });
  const telegram = { botToken: canaries.telegram, allowedUserIds: "123,456", transport: "polling" };
  await call("PUT", `${path}/channels/telegram`, { enabled: true, config: telegram });
  const slack = { botToken: canaries.slack, signingSecret: canaries.signing };
  await call("PUT", `${path}/channels/slack`, { enabled: false, config: slack });
  const whatsapp = { accountSid: canaries.accountSid, authToken: canaries.twilio, whatsappNumber: "+390612345678" };
  await call("PUT", `${path}/channels/whatsapp`, { enabled: false, config: whatsapp });
  await call("PUT", `${path}/channels/agent`, { enabled: false });
}

async function hooks(call: Call, path: string): Promise<void> {
  const args = { url: "https://shop.example", headers: { "X-Token": "{{skill_env.shop.SHOP_TOKEN}}" } };
  const post = (body: unknown) => call("POST", `${path}/hooks`, body);
  await post({ event: "message_received", actionConfig: { toolName: "httpRequest", args }, timeoutMs: 2000 });
  const replaces = { event: "response_generated", actionConfig: { toolName: "currentTime" }, mutates: true };
  await post({ ...replaces, position: 3 });
  await post({ event: "response_sent", actionConfig: { toolName: "currentTime" }, position: 3, enabled: false });
}

async function room(call: Call, path: string): Promise<void> {
  const place = { outboundChannel: "telegram", outboundTarget: "123" };
  await call("PUT", `${path}/room`, { prompt: "Look after the orders.", evalIntervalMinutes: 0, ...place });
  const sources = `${path}/event-sources`;
  const config = { repository: "acme/shop", labels: ["bug"] };
  const { id } = await call("POST", sources, {
    name: "orders",
    sourceType: "webhook",
    authKey: canaries.sender,
    config,
  });
  await call("POST", sources, { name: "issues", sourceType: "github", enabled: false });
  const post = (body: unknown) => call("POST", `${sources}/${id}/definitions`, body);
  await post({ name: "refund", matchingPrompt: "A refund", action: "backlog", interpretationPrompt: "{{payload}}" });
  await post({ name: "cancel", matchingPrompt: "A cancellation", action: "conversation", priority: 0, ...place });
  const conditions = [{ path: "order.state", equals: "paid" }];
  await post({ name: "paid", matchingPrompt: "A payment", action: "conversation", contextPrompt: "Hi", conditions });
  const tasks = `${path}/scheduled-tasks`;
  const cron = { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Rome" };
  await call("POST", tasks, { name: "Report", prompt: "Sum up.", schedule: cron, ...place });
  await call("POST", tasks, { name: "Check", prompt: "Look.", schedule: { type: "interval", everyMs: 3_600_000 } });
  const once = { type: "one-shot", runAt: "2027-01-01T09:00:00+01:00" };
  await call("POST", tasks, { name: "New year", prompt: "Wish.", schedule: once, maxRetries: 0, enabled: false });
}

/** The instance without its name in addresses, and without the parts that no import can set: secrets and their effects. */
export function withoutSecrets({ instance }: Bundle) {
  const { slug, secrets, channels, skillEnv, eventSources, ...rest } = instance;
  return {
    ...rest,
    channels: channels.map(({ enabled, ...channel }) => channel),
    skillEnv: skillEnv.map(({ skillSlug, env }) => ({ skillSlug, env: env.filter(({ sensitive }) => !sensitive) })),
    eventSources: eventSources.map(({ authKeyConfigured, ...source }) => source),
  };
}
