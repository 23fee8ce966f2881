import postgres from "postgres";
import type { AgentEngine } from "../../src/client/index.ts";

const orgSlug = "default";
const model = { provider: "openai-compatible", model: "tea-1" } as const;

/** An installation of a tea house that has been in use for two weeks. */
export async function furnish(engine: AgentEngine, databaseUrl: string): Promise<void> {
  await agents(engine);
  await knowledge(engine);
  await people(engine);
  await conversations(engine);
  await work(engine);
  await past(databaseUrl);
}

async function agents(engine: AgentEngine): Promise<void> {
  for (const [slug, name, description] of [
    ["support", "Tea House Support", "Answers customers about orders, opening hours and teas."],
    ["buyer", "Buyer", "Watches stocks and prices, and drafts orders."],
    ["press", "Press desk", "Answers journalists, in two languages."],
  ] as const) {
    const limits = { monthlyTokenBudget: 5_000_000, timezone: "Europe/Zurich" };
    await engine.createAgent({ body: { slug, name, description, ...model, ...limits, debugEnabled: true } });
    const config = { apiKey: `sk-agent-${slug}-0000` };
    await engine.putAgentChannel({ slug, type: "web", body: { enabled: true, config } });
    await engine.putAgentTools({
      slug,
      body: { enabled: ["currentTime", "httpRequest"], needsApproval: ["httpRequest"] },
    });
  }
}

async function knowledge(engine: AgentEngine): Promise<void> {
  const { workspaces } = await engine.listWorkspaces({ orgSlug });
  const content = "# Refunds\n\nUp to 50 francs: refund at once, and say so.\nAbove: ask a person first.\n";
  const refunds = { name: "Refunds", description: "When to refund an order, and how to word it.", content };
  const requiredEnv = [
    { name: "SHOP_TOKEN", description: "Of the shop's API.", hosts: ["shop.example"], sensitive: true },
  ];
  await engine.createSkill({ orgSlug, body: { ...refunds, category: "support", requiredEnv } });
  await engine.allowSkill({ orgSlug, workspaceId: workspaces[0]?.id ?? "", name: "refunds" });
  await engine.setAgentSkills({ slug: "support", body: { enabled: ["refunds"] } });
  const newer = `${content}Say within which days the money arrives.\n`;
  const changelog = "Says when the money arrives.";
  await engine.updateSkill({ orgSlug, name: "refunds", body: { ...refunds, content: newer, requiredEnv, changelog } });
  for (const [fact, subject] of [
    ["Prefers green tea, without sugar.", "clara"],
    ["Orders for an office of twelve.", "milan"],
    ["Lives in Zurich, picks orders up.", "clara"],
  ] as const) {
    await engine.createMemory({ body: { instanceId: "support", content: fact, subject } });
  }
}

async function people(engine: AgentEngine): Promise<void> {
  await engine.addMember({ orgSlug, body: { email: "grace@tea.example", name: "Grace", roleKey: "admin" } });
  await engine.addMember({ orgSlug, body: { email: "milan@tea.example", name: "Milan", roleKey: "member" } });
  await engine.addMember({ orgSlug, body: { email: "vera@tea.example", name: "Vera", roleKey: "viewer" } });
}

async function conversations(engine: AgentEngine): Promise<void> {
  for (const [chat, ...texts] of [
    ["clara", "Where is my order?", "How long do I steep a Sencha?"],
    ["milan", "Can you send twelve tins until Friday?"],
    ["noor", "How do I make green tea?"],
    ["jonas", "Are you open today?"],
  ] as const) {
    for (const text of texts) {
      const body = { messages: [{ role: "user", content: text }], chat_id: chat };
      for await (const _ of engine.streamPlayground({ slug: "support", body }));
    }
  }
}

async function work(engine: AgentEngine): Promise<void> {
  const slug = "buyer";
  await engine.setRoom({ slug, body: { enabled: true, prompt: "Keep the shelves full, and the costs low." } });
  const { id } = await engine.createEventSource({ slug, body: { name: "Shop", sourceType: "webshop" } });
  const matchingPrompt = "A tea is nearly sold out";
  const contextPrompt = "{{payload.tea}} is nearly sold out. Draft an order.";
  const low = { name: "Low stock", matchingPrompt, action: "conversation", contextPrompt } as const;
  await engine.createEventDefinition({ slug, id, body: low });
  const schedule = { type: "cron", expression: "30 7 * * 1-5", timezone: "Europe/Zurich" } as const;
  const prompt = "Compare our stocks with last week's sales, and say what to order.";
  await engine.createScheduledTask({ slug, body: { name: "Morning stock check", prompt, schedule } });
  const hook = { event: "response_sent", actionConfig: { toolName: "currentTime" } } as const;
  await engine.createHook({ slug: "support", body: hook });
}

/** Turns of the days before, copied from today's with other times, sizes and ends: the API can't write past ones. */
async function past(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await sql.unsafe(`
    insert into turns select (jsonb_populate_record(t, jsonb_build_object(
      'id', gen_random_uuid(), 'conversation_id', null, 'subject', subject || (day * 7 + copy) % 9,
      'created_at', at, 'finished_at', at, 'lease_until', at,
      'status', case when (day * 31 + copy * 17) % 41 = 0 then 'failed' else 'done' end,
      'prompt_tokens', 500 + (day * 131 + copy * 71) % 1900, 'completion_tokens', 60 + (day * 37 + copy * 29) % 260,
      'ttft_ms', 240 + (day * 53 + copy * 19) % 420, 'duration_ms', 900 + (day * 97 + copy * 43) % 2600
    ))).* from turns t, generate_series(0, 40) day, generate_series(1, 12) copy,
      lateral (select date_trunc('day', now()) - day * interval '1 day' + (copy * 67 % 840 + 420) * interval '1 minute' as at) times
    where t.status = 'done' and copy <= 5 + (day * 5) % 8 and at < now()`);
  await sql.unsafe("update turns set duration_ms = 1400, ttft_ms = 380 where duration_ms < 200");
  // The daily sums are computed again.
  await sql.unsafe("truncate usage_daily, latency_daily, tool_usage_daily, user_usage_daily");
  await sql.unsafe("update usage_rollups set until = 'epoch'");
  await sql.end();
}
