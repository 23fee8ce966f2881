import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { localNotify } from "../../../src/core/notify.ts";
import { agents, conversations } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { plainText } from "../../plain-text.ts";
import { finish, reply, scriptedModel, toolCall } from "../../scripted-model.ts";
import { asking, ownTurns } from "../../turns.ts";
import { chatHarness, eventually, readEvents } from "./chat.ts";
import {
  access,
  type Change,
  model,
  newKey,
  patch,
  projected,
  remake,
  unmapped,
  usage,
  verdict,
  web,
} from "./in-force.ts";
import { type DoorName, page, type Seen, type World, world } from "./replicas.ts";

// A change that happens in the middle of a call applies to that call, and to work without a call.

/** The statement of a call at which the change happens. */
const moments: Record<string, (text: string) => boolean> = {
  "before its context is written": (text) =>
    text.includes("insert into conversations") && !text.includes("insert into turns"),
  "before its turn opens": (text) => text.includes("insert into turns"),
};

interface Race {
  at: readonly DoorName[];
  change: Change;
  see: (seen: Seen) => unknown;
  after: unknown;
  /** The final state of the conversation. */
  state: object | undefined;
}

const clients = ["completion", "streamed completion", "native"] as const;
const everybody = [...clients, "playground"] as const;
const earlier = { customer: "c-16" };
const whole = { customer: "c-17", plan: "c-17" };
const told = (text: string) => (seen: Seen) => JSON.stringify(seen.model?.prompt ?? "").includes(text);

const races: Record<string, Race> = {
  "contextMapping, to what is private": {
    at: everybody,
    change: web({ contextMapping: { _private: "customer" } }),
    see: (seen) => [verdict(seen), told("c-16")(seen), told("c-17")(seen)],
    after: ["ok", true, false],
    state: { ...earlier, _private: { id: "c-17" } },
  },
  "contextMapping, to another key": {
    at: everybody,
    change: web({ contextMapping: { client: "customer.id" } }),
    see: projected,
    after: "client",
    state: { ...earlier, client: "c-17" },
  },
  "contextMapping, emptied": {
    at: everybody,
    change: web({ contextMapping: {} }),
    see: (seen) => [verdict(seen), seen.model],
    after: [unmapped, null],
    state: earlier,
  },
  "the key, replaced": {
    at: clients,
    change: web({ apiKey: newKey }),
    see: (seen) => [verdict(seen), seen.model],
    after: ["Invalid API key", null],
    state: earlier,
  },
  "the agent, off": {
    at: clients,
    change: patch({ active: false }),
    see: (seen) => [access(seen), seen.model],
    after: ["Unknown model", null],
    state: earlier,
  },
  "the agent, another one of its slug": {
    at: clients,
    change: remake,
    see: (seen) => [access(seen), seen.model],
    after: ["Invalid API key", null],
    state: undefined,
  },
  "the model": {
    at: everybody,
    change: patch({ provider: "mistral", model: "second" }),
    see: (seen) => [model(seen), projected(seen)],
    after: ["mistral:second", "customer,plan"],
    state: whole,
  },
  "allowedOrigins, one less": {
    at: clients,
    change: web({ allowedOrigins: [] }),
    see: access,
    after: "ok",
    state: whole,
  },
  streamUsageEnabled: {
    at: ["streamed completion"],
    change: patch({ streamUsageEnabled: true }),
    see: usage,
    after: true,
    state: whole,
  },
};

describe.each(Object.entries(races))("%s, while a call is on its way,", (_, { at, change, see, after, state }) => {
  test.each(Object.entries(moments))("%s, holds for the call", async (_moment, isMoment) => {
    const w = await world();
    const here = await w.here();
    for (const door of at) {
      const config = { apiKey: w.agent.key, contextMapping: { customer: "customer.id", plan: "plan" } };
      await web({ ...config, allowedOrigins: [page] })(w);
      await patch({ active: true, provider: "demo", model: "first", streamUsageEnabled: false })(w);
      const ask = (context: object) => w.look(here, door, { key: w.agent.key, chatId: door, extra: { context } });
      expect(verdict(await ask({ customer: { id: "c-16" } }))).toBe("ok");
      before(w, isMoment, change);
      const seen = await ask({ customer: { id: "c-17" }, plan: "c-17" });
      expect([door, see(seen), (await seen.stored())?.state]).toEqual([door, after, state]);
    }
  });
});

/** Makes a change once, right before a statement. */
function before(w: World, isMoment: (text: string) => boolean, change: Change): void {
  const { database } = w.services;
  const { query } = database;
  database.query = async (text, parameters) => {
    if (isMoment(plainText(text))) {
      database.query = query;
      await change(w);
    }
    return query.call(database, text, parameters) as Promise<never>;
  };
}

test("a context that somebody wrote over meanwhile is not taken back", async () => {
  const w = await world();
  const here = await w.here();
  await web({ contextMapping: { customer: "customer.id", plan: "plan" } })(w);
  before(w, moments["before its turn opens"] ?? (() => false), async () => {
    const other = { customer: "c-18" };
    const { db } = w.services.database;
    await db.update(conversations).set({ state: sql`${conversations.state} || ${JSON.stringify(other)}::jsonb` });
    await web({ contextMapping: {} })(w);
  });
  const extra = { context: { customer: { id: "c-17" }, plan: "c-17" } };
  const { verdict, stored } = await w.look(here, "native", { key: w.agent.key, chatId: "c", extra });
  expect([verdict, (await stored())?.state]).toEqual([unmapped, { customer: "c-18" }]);
});

test("a change that comes again and again is a 503, and the call leaves nothing", async () => {
  const w = await world();
  const here = await w.here();
  const { database } = w.services;
  const { query } = database;
  let temperature = 0;
  database.query = async (text, parameters) => {
    if (plainText(text).includes("insert into turns")) {
      temperature += 0.1;
      await patch({ temperature })(w);
    }
    return query.call(database, text, parameters) as Promise<never>;
  };
  await web({ contextMapping: { customer: "customer.id" } })(w);
  for (const chatId of ["completion", "native"] as const) {
    const seen = await w.look(here, chatId, {
      key: w.agent.key,
      chatId,
      extra: { context: { customer: { id: "c-17" } } },
    });
    expect(seen).toMatchObject({ verdict: "The agent is being changed; try again", model: null });
    expect(await seen.stored()).toEqual({ state: {}, debug: null });
  }
});

describe("what the engine does by itself, on a deaf replica,", () => {
  test("is asked of the model that the agent has now, and not for an agent that is off", async () => {
    const w = await world();
    const { complete } = ownTurns({ ...w.services, notify: localNotify(w.services.log) });
    // As a job does, which reads the agent's revision with its conversation.
    const ask = async () => {
      const [seen] = await w.services.database.db
        .select({ slug: agents.slug, revision: agents.revision })
        .from(agents)
        .where(eq(agents.slug, "helper"));
      return complete(seen ?? { slug: "", revision: 0 }, "Sum up.", asking());
    };
    await patch({ fastModel: "demo:quick" })(w);
    await ask();
    await patch({ fastModel: "mistral:fast" })(w);
    await ask();
    const models = w.specs.map(({ provider, model }) => `${provider}:${model}`);
    expect(models).toEqual(["demo:quick", "mistral:fast"]);
    await patch({ active: false })(w);
    await expect(ask()).rejects.toThrow("Unknown model");
  });

  test("continues a turn with the tools and the prompt that the agent has now", async () => {
    const sent: string[] = [];
    const egress = {
      request: async ({ url }: { url: string }) => {
        sent.push(url);
        return { status: 200, headers: {}, body: "paid", url };
      },
    };
    const paying = {
      parts: [...toolCall("c", "httpRequest", { url: "https://shop.example/pay" }), finish("tool-calls")],
    };
    const model = scriptedModel(({ prompt }) => (prompt.at(-1)?.role === "tool" ? reply("Over.") : paying));
    const h = await chatHarness(model, {}, { egress });
    const { slug, headers, key } = h.agent;
    const change = async (path: string, json: object) =>
      expect((await h.request(`/api/instances/${slug}${path}`, { method: "PATCH", headers, json })).ok).toBe(true);
    await change("/tools", { enabled: ["httpRequest"], needsApproval: ["httpRequest"] });
    const deaf = createEngine({ ...h.services, notify: localNotify(h.services.log) });
    const post = (path: string, authorization: string, json: object) =>
      deaf.app.request(path, {
        method: "POST",
        headers: { Authorization: authorization, "Content-Type": "application/json" },
        body: JSON.stringify(json),
      });
    const messages = [{ role: "user", content: "Pay" }];
    const events = await readEvents(
      await post(`/api/instances/${slug}/chat/stream`, `Bearer ${key}`, { messages, chat_id: "c" }),
    );
    const call = events.find(({ event }) => event === "tool-call")?.data.id;
    await change("/tools", { enabled: ["currentTime"] });
    await change("/prompts", { sections: [{ key: "02-soul", content: "Speak Latin." }] });
    const path = `/api/conversations/${encodeURIComponent(`${slug}:web:api-c`)}/approvals/${call}`;
    expect((await post(path, headers.Authorization ?? "", { approved: true })).status).toBe(201);
    await eventually(async () => (await h.stored()).messages.at(-1)?.content === "Over.");
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain("Speak Latin.");
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain("There is no tool named httpRequest");
    expect(sent).toEqual([]);
  });
});
