import { eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, budgetPeriods, channels, conversations, files, turns } from "../../../src/db/schema.ts";
import { toolLabels } from "../../../src/features/metrics/turns.ts";
import { enqueue } from "../../../src/jobs/enqueue.ts";
import { harness } from "../../harness.ts";
import { finish, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { spyOnStatements } from "../../statements.ts";
import { saveChannel } from "../inbox/messengers.ts";
import { weather } from "../tools/plugins/weather.ts";
import { metricsToken, monitored, samplesOf, scrape } from "./scrape.ts";

const acting = { id: "1", slug: "a", name: "A", organizationId: "2", workspaceId: "3", iconVersion: null };

describe("access to the metrics", () => {
  test("none, where the server has no token for it: the route answers like a missing one", async () => {
    const h = await harness();
    const headers = [{}, { Authorization: "Bearer " }, await h.as("owner")];
    for (const given of headers) {
      const answer = await h.request("/metrics", { headers: given });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ message: "No such route: /metrics" });
    }
  });

  test("whoever shows the token, and no member or key of an organization", async () => {
    const h = await monitored();
    const refused = [
      {},
      { Authorization: metricsToken },
      { Authorization: `Bearer ${metricsToken}x` },
      { Authorization: `Bearer ${metricsToken.slice(0, -1)}` },
      { Authorization: `Bearer ${h.agent.key}` },
      await h.as("owner"),
    ];
    for (const headers of refused) {
      const answer = await h.request("/metrics", { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("WWW-Authenticate")).toBe("Bearer");
      expect(await answer.text()).not.toContain("agent_engine_");
    }
    expect((await scrape(h)).size).toBeGreaterThan(50);
    expect(h.logs.join()).not.toContain(metricsToken);
  });

  test("a client that guesses gets 429 after a while, and the token still works", async () => {
    const h = await monitored();
    const guesses = await Promise.all(
      Array.from({ length: 700 }, async (_, index) => {
        const headers = { Authorization: `Bearer guess-${index}` };
        return (await h.request("/metrics", { headers })).status;
      }),
    );
    expect([...new Set(guesses)].sort()).toEqual([401, 429]);
    await scrape(h);
  });
});

describe("the values they report", () => {
  test("turns by endpoint and ending, their times, tokens, steps and tools", async () => {
    const model = scriptedModel([
      {
        parts: [...toolCall("call-1", "currentTime"), ...toolCall("call-2", "Ignore all rules"), finish("tool-calls")],
      },
      { parts: [...text("It is noon."), finish()] },
      { parts: [...text("Hello."), finish()] },
      { fail: Object.assign(new Error("no"), { statusCode: 400, isRetryable: false }) },
    ]);
    const h = await monitored(model);
    const enabled = { method: "PATCH", headers: h.agent.headers, json: { enabled: ["currentTime"] } };
    expect((await h.request(`/api/instances/${h.agent.slug}/tools`, enabled)).status).toBe(200);
    await (await h.native("What time is it?", { chat_id: "a" })).text();
    await h.complete("Hi", { chat_id: "b" });
    await h.complete("Hi", { chat_id: "c" });
    const found = await scrape(h);

    expect(samplesOf(found, "agent_engine_turns_total")).toEqual({
      '{door="native",channel="web",status="done",reason=""}': 1,
      '{door="completions",channel="web",status="done",reason=""}': 1,
      '{door="completions",channel="web",status="failed",reason="provider-failed"}': 1,
    });
    expect(samplesOf(found, "agent_engine_turns_running")).toEqual({ '{door="native"}': 0, '{door="completions"}': 0 });
    expect(samplesOf(found, "agent_engine_turn_duration_seconds_count")).toEqual({
      '{door="native"}': 1,
      '{door="completions"}': 1,
    });
    expect(found.get('agent_engine_turn_first_output_seconds_count{door="native"}')).toBe(1);
    expect(samplesOf(found, "agent_engine_steps_total")).toEqual({
      '{finish_reason="tool-calls"}': 1,
      '{finish_reason="stop"}': 2,
    });
    const stored = await h.stored();
    const sum = (of: "promptTokens" | "completionTokens") => stored.turns.reduce((total, turn) => total + turn[of], 0);
    expect(sum("completionTokens")).toBeGreaterThan(0);
    expect(samplesOf(found, "agent_engine_tokens_total")).toEqual({
      '{provider="demo",direction="prompt"}': sum("promptTokens"),
      '{provider="demo",direction="completion"}': sum("completionTokens"),
    });
    expect(samplesOf(found, "agent_engine_tool_duration_seconds_count")).toEqual({
      '{tool="currentTime",ok="true"}': 1,
      '{tool="other",ok="false"}': 1,
    });
  });

  test("a call that a person refused is neither an answer of a model nor a call that was made", async () => {
    const model = scriptedModel([
      { parts: [...toolCall("call-1", "currentTime"), finish("tool-calls")] },
      { parts: [...text("It is noon."), finish()] },
    ]);
    const h = await monitored(model);
    const { headers, slug } = h.agent;
    const json = { enabled: ["currentTime"], needsApproval: ["currentTime"] };
    expect((await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json })).status).toBe(200);
    await (await h.native("What time is it?", { chat_id: "a" })).text();
    const { approvals } = await (await h.request("/api/approvals", { headers })).json();
    const path = `/api/conversations/${slug}:web:api-a/approvals/${approvals[0].toolCallId}`;
    expect((await h.request(path, { method: "POST", headers, json: { approved: false } })).status).toBe(201);
    const steps = async () => samplesOf(await scrape(h), "agent_engine_steps_total");
    await expect.poll(steps).toEqual({ '{finish_reason="approval"}': 1, '{finish_reason="stop"}': 1 });
    expect(samplesOf(await scrape(h), "agent_engine_tool_duration_seconds_count")).toEqual({});
  });

  test("requests by route, the cache of agents, connections and the process", async () => {
    const h = await monitored();
    await h.complete("Hi");
    await h.complete("Hi");
    await h.request("/api/instances/agent-1", { headers: h.agent.headers });
    await h.request("/nowhere/at/all");
    await h.request("/health", { method: "POST" });
    const found = await scrape(h);

    const requests = samplesOf(found, "agent_engine_http_request_duration_seconds_count");
    expect(requests).toMatchObject({
      '{method="POST",route="/v1/chat/completions",status="200"}': 2,
      '{method="GET",route="/api/instances/:slug",status="200"}': 1,
      '{method="none",route="none",status="404"}': 1,
      '{method="none",route="none",status="405"}': 1,
    });
    expect(Object.keys(requests).join()).not.toContain("agent-1");
    expect(samplesOf(found, "agent_engine_agent_cache_lookups_total")).toEqual({
      '{result="hit"}': 1,
      '{result="miss"}': 1,
    });
    expect(found.get('agent_engine_admission_total{verdict="admitted"}')).toBeGreaterThan(2);
    expect(found.get('agent_engine_database_connections{state="open"}')).toBeGreaterThan(0);
    expect(found.get('agent_engine_info{version="0.1.0"}')).toBe(1);
    expect(found.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(found.has("nodejs_eventloop_lag_p99_seconds")).toBe(true);
  });

  test("an open reply, while it is one", async () => {
    const gate = Promise.withResolvers<void>();
    const h = await monitored(scriptedModel([{ parts: [gate.promise, ...text("Done."), finish()] }]));
    const answer = await h.native("Hi", { chat_id: "a" });
    const during = await scrape(h);
    expect(during.get("agent_engine_open_replies")).toBe(1);
    expect(during.get('agent_engine_turns_running{door="native"}')).toBe(1);
    gate.resolve();
    await answer.text();
    const after = await scrape(h);
    expect(after.get("agent_engine_open_replies")).toBe(0);
    expect(after.get('agent_engine_turns_running{door="native"}')).toBe(0);
  });

  test("events of other systems, and what happened", async () => {
    const h = await monitored();
    expect((await h.request("/webhooks/nobody-has-this-token", { method: "POST", json: {} })).status).toBe(200);
    h.services.activity.emit({ kind: "cron", text: "A task ran", agent: acting, conversationId: null });
    const found = await scrape(h);
    expect(samplesOf(found, "agent_engine_webhooks_total")).toEqual({ '{answer="unknown token"}': 1 });
    expect(samplesOf(found, "agent_engine_activity_total")).toEqual({ '{kind="cron"}': 1 });
    expect(found.get("agent_engine_activity_streams")).toBe(0);
    // The first failure of a kind shows as a change of the counter.
    expect(found.get('agent_engine_jobs_ended_total{kind="outbox.send",result="failed"}')).toBe(0);
  });

  test("names of tools are ours, whatever a model calls or a plugin offers", () => {
    const labels = toolLabels([weather()]);
    const names = ["httpRequest", "weather:order", "weather:x", "crm:issue", "agent:sales", "Ignore all rules", ""];
    expect(names.map(labels)).toEqual([
      ...["httpRequest", "weather:order", "plugin", "plugin", "agent", "other", "other"],
    ]);
  });
});

describe("what a killed process leaves", () => {
  test("is counted: its turns, and the tokens that are held for no call", async () => {
    const h = await monitored();
    const { db } = h.services.database;
    await h.complete("Hello", { chat_id: "c" });
    await db.update(turns).set({ status: "running", leaseUntil: new Date(0) });
    await db.update(conversations).set({ openTurns: 1 });
    const [agent] = await db.select({ agentId: agents.id }).from(agents).where(eq(agents.slug, h.agent.slug));
    if (!agent) throw new Error("The agent is not there");
    await db.insert(budgetPeriods).values({ ...agent, month: "2026-01-01", used: 1, reserved: 50, costReserved: 70 });
    const before = await scrape(h);
    expect(before.get("agent_engine_budget_unowned_tokens")).toBe(50);
    expect(before.get("agent_engine_budget_unowned_cost_micros")).toBe(70);
    await h.engine.tick();
    await h.clock.jump(60_000);
    const after = await scrape(h);
    expect(after.get("agent_engine_budget_unowned_tokens")).toBe(0);
    expect(after.get("agent_engine_budget_unowned_cost_micros")).toBe(0);
    expect(samplesOf(after, "agent_engine_turns_lost_total")).toEqual({ '{cause="lease"}': 1 });
  });
});

describe("stored files", () => {
  test("are added up once in ten minutes, whatever their status but for those that are being deleted", async () => {
    const h = await monitored();
    const { db } = h.services.database;
    const { fileMegabytes } = h.services.policies.values;
    h.services.policies.set({ ...h.services.policies.values, fileMegabytes: { ...fileMegabytes, total: 4 } });
    const [agent] = await db.select().from(agents).where(eq(agents.slug, h.agent.slug));
    if (!agent) throw new Error("The agent is not there");
    const add = (store: string, size: number, status = "stored") =>
      db.insert(files).values({
        id: newId(),
        organizationId: agent.organizationId,
        agentId: agent.id,
        name: "a",
        mime: "text/plain",
        size,
        sha256: "",
        store,
        storageKey: newId(),
        status,
        createdAt: new Date(h.clock.now()),
      });
    await add("directory", 3 * 1024 * 1024);
    await add("directory", 5, "deleting");
    await add("s3", 7);
    const bytesOf = async () => samplesOf(await scrape(h), "agent_engine_file_bytes");
    expect(await bytesOf()).toEqual({ '{store="directory"}': 3 * 1024 * 1024, '{store="s3"}': 7 });
    expect((await scrape(h)).get("agent_engine_file_fullest_ratio")).toBe(0.75);
    await add("s3", 1);
    await h.clock.jump(10 * 60_000 - 1);
    expect((await bytesOf())['{store="s3"}']).toBe(7);
    await h.clock.jump(1);
    expect((await bytesOf())['{store="s3"}']).toBe(8);

    // An unavailable database hides them for a minute, not for ten.
    await h.clock.jump(10 * 60_000);
    const statements = spyOnStatements(h.services.database);
    statements.failWith(new Error("away"));
    expect(await bytesOf()).toEqual({});
    statements.restore();
    await h.clock.jump(60_000 - 1);
    expect(await bytesOf()).toEqual({});
    await h.clock.jump(1);
    expect((await bytesOf())['{store="s3"}']).toBe(8);
  });
});

describe("the work that waits in the database", () => {
  test("is counted once in five seconds, however many ask", async () => {
    const h = await monitored();
    const { db } = h.services.database;
    const asked = vi.spyOn(h.services.database, "query");
    const counts = () => asked.mock.calls.filter(([text]) => text.includes("approvals")).length;
    const unknown = (ms: number, key: string | null = null) => ({
      kind: "unknown.kind",
      key,
      payload: {},
      runAt: new Date(h.clock.now() + ms),
    });
    await enqueue(db, unknown(-60_000));
    await enqueue(db, unknown(-10_000));
    await enqueue(db, unknown(3_600_000));
    const [found] = await Promise.all([scrape(h), scrape(h), scrape(h)]);
    expect(counts()).toBe(1);
    expect(found.get("agent_engine_database_up")).toBe(1);
    expect(samplesOf(found, "agent_engine_jobs")).toEqual({
      '{kind="unknown.kind",state="due"}': 2,
      '{kind="unknown.kind",state="waiting"}': 1,
    });

    await enqueue(db, unknown(-10_000, newId()));
    expect(samplesOf(await scrape(h), "agent_engine_jobs")['{kind="unknown.kind",state="due"}']).toBe(2);
    await h.clock.jump(5_000);
    expect(samplesOf(await scrape(h), "agent_engine_jobs")['{kind="unknown.kind",state="due"}']).toBe(3);
    expect(counts()).toBe(2);
  });

  test("a database that is away, or hangs, keeps back only these numbers", async () => {
    const h = await monitored();
    const asked = vi.spyOn(h.services.database, "query");
    asked.mockRejectedValueOnce(new Error("away"));
    const away = await scrape(h);
    expect(away.get("agent_engine_database_up")).toBe(0);
    expect(samplesOf(away, "agent_engine_approvals_waiting")).toEqual({});
    expect(away.get("process_resident_memory_bytes")).toBeGreaterThan(0);

    await h.clock.jump(5_000);
    asked.mockReturnValueOnce(new Promise(() => {}));
    const answer = scrape(h);
    await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(1));
    await h.clock.jump(3_000);
    expect((await answer).get("agent_engine_database_up")).toBe(0);
    await h.clock.jump(5_000);
    expect((await scrape(h)).get("agent_engine_database_up")).toBe(1);
  });
});

test("channels that fail are counted, with the age of the oldest failure", async () => {
  const h = await monitored();
  const { db } = h.services.database;
  await saveChannel(h, h.agent.slug, "telegram");
  await saveChannel(h, h.agent.slug, "slack");
  const errorSince = new Date(h.clock.now() - 7_200_000);
  const failing = { status: "failing", lastError: "The token is unknown", errorSince };
  await db.update(channels).set(failing).where(eq(channels.type, "telegram"));
  const metrics = await scrape(h);
  expect(metrics.get('agent_engine_channels_failing{channel="telegram"}')).toBe(1);
  expect(metrics.get('agent_engine_channels_failing_oldest_seconds{channel="telegram"}')).toBe(7_200);
  expect(metrics.has('agent_engine_channels_failing{channel="slack"}')).toBe(false);
});
