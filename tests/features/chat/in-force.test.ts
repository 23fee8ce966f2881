import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { providerConnections, workspaces } from "../../../src/db/schema.ts";
import { providersOf } from "./connections.ts";
import {
  access,
  type Change,
  model,
  newKey,
  own,
  patch,
  projected,
  remake,
  send,
  unmapped,
  usage,
  verdict,
  web,
} from "./in-force.ts";
import { type Asked, type DoorName, page, type Seen, said, type World, world } from "./replicas.ts";

// A change made by the API applies to the very next call (decisions §5, "A change is in force at once").

/** The effect of a setting at some doors. */
interface View {
  at: readonly DoorName[];
  see: (seen: Seen) => unknown;
  before: unknown;
  after: unknown;
  asked: Partial<Asked>;
}

/** A setting that changes between two calls. */
interface Setting {
  given?: readonly Change[];
  change: Change;
  views: readonly View[];
}

const view = (
  at: readonly DoorName[],
  see: View["see"],
  before: unknown,
  after: unknown,
  asked: Partial<Asked> = {},
): View => ({ at, see, before, after, asked });

/** The doors at which a turn of the agent begins. */
const conversing = ["completion", "native", "playground"] as const;
const turns = [...conversing, "asked"] as const;
/** Doors that the agent's key opens, one of each kind. */
const keyed = ["completion", "native", "repeated native", "resume"] as const;
const allKeyed = [...keyed, "streamed completion", "repeated completion", "stop"] as const;
/** The second time they are refused for their `Idempotency-Key`, unless an earlier check refuses them. */
const takenKey = ["completion with a taken key", "native with a taken key"] as const;

const open = web({ allowedOrigins: [page] });
const keyless = web({ requireAuthentication: false });
const mapped = web({ contextMapping: { customer: "customer.id" } });
const webOff = send("DELETE", `${own}/channels/web`);
const agentChannel = (enabled: boolean) => send("PUT", `${own}/channels/agent`, { enabled });
const deleteKey = send("DELETE", `${own}/secrets/auth_api_key`);
const tools = (...enabled: string[]) => send("PATCH", `${own}/tools`, { enabled });
const secret = (value: string) => send("PUT", `${own}/secrets`, { secrets: [{ key: "mistral_api_key", value }] });

const organization = "/api/organizations/acme";
const allowance = (w: World) => `${organization}/workspaces/${w.organization.workspaceId}/skills/shop`;
const offerSkill: Change = async (w) => {
  const requiredEnv = [{ name: "TOKEN", sensitive: true }];
  const skill = { name: "Shop", description: "Prices of tea.", content: "Look them up.", requiredEnv };
  await w.send("POST", `${organization}/skills`, skill);
  await w.send("PUT", allowance(w));
};
const enableSkill = send("PATCH", `${own}/skills`, { enabled: ["shop"] });
const skillEnv = (value: string) =>
  send("PUT", `${own}/skills/shop/env`, { env: [{ key: "TOKEN", value, sensitive: true }] });

const move: Change = async (w) => {
  const id = newId();
  await w.services.database.db.insert(workspaces).values({ id, organizationId: w.organization.id, name: "far" });
  await patch({ workspaceId: id })(w);
};

/** Binds a new connection of this name to the role `chat`. */
const bindNew = async (w: World, name: string) => {
  const { connect, bind } = providersOf(w);
  await bind("helper", "chat", await connect(name));
};
const unusable = "The agent's provider connection is not usable";

const prompted = (text: string) => (seen: Seen) => seen.model?.system.includes(text);
/** The provider settings of the model call. */
const asking = (seen: Seen) => {
  const { reasoning, temperature, maxOutputTokens } = seen.model?.options ?? {};
  const named = prompted("You are Carla")(seen);
  return { model: model(seen), named, reasoning, temperature, maxOutputTokens, messages: seen.model?.prompt.length };
};
const offered = (seen: Seen) => seen.model?.options.tools?.map(({ name }) => name);
const fetched = ({ fetched }: Seen) => fetched;
/** The model's words that reached the caller. */
const unhidden = ({ text }: Seen) => said.filter((word) => text.includes(word));
const debugged = async ({ stored }: Seen) => ((await stored())?.debug ?? null) !== null;

const context = { extra: { context: { customer: { id: "c-17" } } } };
const foreign =
  "This origin is not allowed: add it to the agent's allowedOrigins or, if it is this server's own, set publicAddress";
const spent = "The agent's monthly token budget is used up";
const toolGone = "There is no tool named ask_helper";

const settings: Record<string, Setting> = {
  "active, off": {
    given: [open],
    change: patch({ active: false }),
    views: [
      view(allKeyed, access, "ok, readable", "Unknown model"),
      view(["playground"], verdict, "ok", "ok"),
      view(["asked"], verdict, "ok", toolGone),
      view(["preflight"], access, "ok, readable", "ok"),
      view(["models"], verdict, "ok", "not listed"),
    ],
  },
  "active, on": {
    given: [open, patch({ active: false })],
    change: patch({ active: true }),
    views: [
      view(keyed, access, "Unknown model", "ok, readable"),
      view(["asked"], verdict, toolGone, "ok"),
      view(["preflight"], access, "ok", "ok, readable"),
      view(["models"], verdict, "not listed", "ok"),
    ],
  },
  "agent, off": {
    change: agentChannel(false),
    views: [view(["asked"], verdict, "ok", toolGone), view(conversing, verdict, "ok", "ok")],
  },
  "agent, on": {
    given: [agentChannel(false)],
    change: agentChannel(true),
    views: [view(["asked"], verdict, toolGone, "ok")],
  },
  "Web, off": {
    given: [open],
    change: webOff,
    views: [
      view(keyed, access, "ok, readable", "Unknown model"),
      view(["playground", "asked"], verdict, "ok", "ok"),
      view(["preflight"], access, "ok, readable", "ok"),
      view(["models"], verdict, "ok", "not listed"),
    ],
  },
  "Web, on": {
    given: [open, webOff],
    change: web({}),
    views: [
      view(keyed, access, "Unknown model", "ok, readable"),
      view(["preflight"], access, "ok", "ok, readable"),
      view(["models"], verdict, "not listed", "ok"),
    ],
  },
  "authEnabled, off": {
    given: [open],
    change: keyless,
    views: [view(keyed, access, "Missing Bearer token, readable", "ok, readable", { key: null })],
  },
  "authEnabled, on": {
    given: [open, keyless],
    change: patch({ authEnabled: true }),
    views: [view(keyed, access, "ok, readable", "Missing Bearer token, readable", { key: null })],
  },
  "the key, replaced": {
    change: web({ apiKey: newKey }),
    views: [
      view([...allKeyed, ...takenKey, "models"], verdict, "ok", "Invalid API key"),
      view([...keyed, "models"], verdict, "Invalid API key", "ok", { key: newKey }),
    ],
  },
  "what has nothing to do with the key": {
    change: patch({ temperature: 0.5 }),
    views: [view(takenKey, verdict, "ok", "This Idempotency-Key was used with another body: use a new one")],
  },
  "the key, deleted": {
    change: deleteKey,
    views: [
      view(keyed, verdict, "ok", "Auth enabled but no API key configured"),
      view(["models"], verdict, "ok", "Invalid API key"),
    ],
  },
  "the key, deleted while only a context needs one": {
    given: [open, keyless, mapped],
    change: deleteKey,
    views: [
      view(["completion", "native"], verdict, "ok", "Call context requires the agent's API key", context),
      view(keyed, verdict, "ok", "ok"),
    ],
  },
  "allowedOrigins, one more": {
    change: open,
    views: [
      view(keyed, access, "ok", "ok, readable"),
      view(keyed, access, "Invalid API key", "Invalid API key, readable", { key: "wrong" }),
      view(["preflight"], access, "ok", "ok, readable"),
    ],
  },
  "allowedOrigins, one less": {
    given: [open],
    change: web({ allowedOrigins: [] }),
    views: [
      view(allKeyed, access, "ok, readable", "ok"),
      view(keyed, access, "Invalid API key, readable", "Invalid API key", { key: "wrong" }),
      view(["preflight"], access, "ok, readable", "ok"),
    ],
  },
  "allowedOrigins, one more where no key is asked for": {
    given: [keyless],
    change: open,
    views: [view(keyed, access, foreign, "ok, readable", { key: null })],
  },
  "allowedOrigins, one less where no key is asked for": {
    given: [keyless, open],
    change: web({ allowedOrigins: [] }),
    views: [view(keyed, access, "ok, readable", foreign, { key: null })],
  },
  "contextMapping, first of all": {
    change: mapped,
    views: [view(conversing, projected, unmapped, "customer", context)],
  },
  "contextMapping, emptied": {
    given: [mapped],
    change: web({ contextMapping: {} }),
    views: [view(conversing, projected, "customer", unmapped, context)],
  },
  "contextMapping, to another key": {
    given: [mapped],
    change: web({ contextMapping: { client: "customer.id" } }),
    views: [view(conversing, projected, "customer", "client", context)],
  },
  "contextMapping, to what is private": {
    given: [mapped],
    change: web({ contextMapping: { _private: "customer" } }),
    views: [view(conversing, projected, "customer", "", context)],
  },
  stateInPromptEnabled: {
    given: [mapped],
    change: patch({ stateInPromptEnabled: false }),
    views: [view(conversing, projected, "customer", "", context)],
  },
  streamUsageEnabled: {
    change: patch({ streamUsageEnabled: true }),
    views: [view(["streamed completion", "repeated completion"], usage, false, true)],
  },
  "the fields of the agent": {
    given: [patch({ historyLimit: 0 })],
    change: patch({
      provider: "mistral",
      model: "second",
      name: "Carla",
      historyLimit: 10,
      thinkingEnabled: true,
      temperature: 0.5,
      maxOutputTokens: 99,
    }),
    views: [
      view(
        turns,
        asking,
        { model: "demo:first", named: false, messages: 2 },
        {
          model: "mistral:second",
          named: true,
          messages: 4,
          reasoning: "medium",
          temperature: 0.5,
          maxOutputTokens: 99,
        },
      ),
    ],
  },
  "the key of the provider": {
    given: [patch({ provider: "mistral", model: "first" }), secret("the-old-key")],
    change: secret("the-new-key"),
    views: [view(turns, (seen) => seen.model?.spec.apiKey, "the-old-key", "the-new-key")],
  },
  "the key of a bound connection": {
    given: [(w) => bindNew(w, "bound")],
    change: (w) => bindNew(w, "another"),
    views: [view(turns, (seen) => seen.model?.spec.apiKey, "key-of-bound", "key-of-another")],
  },
  "a bound connection, off": {
    given: [(w) => bindNew(w, "bound")],
    change: async (w) => {
      const { db } = w.services.database;
      const [connection] = await db.select().from(providerConnections);
      await providersOf(w).change(connection?.id ?? "", { enabled: false });
    },
    views: [
      view(["completion", "native"], verdict, "ok", unusable),
      view(["asked"], verdict, "ok", `The agent helper could not answer: ${unusable}`),
    ],
  },
  "the organization's default connection": {
    given: [patch({ provider: null, model: null })],
    change: (w) => providersOf(w).connect("usual", { isDefault: true }),
    views: [view(["completion"], model, "demo:demo", "mistral:mistral-medium-latest")],
  },
  "the workspace's admission": {
    given: [(w) => bindNew(w, "bound")],
    change: (w) => providersOf(w).admit(["openai"]),
    views: [view(["completion"], verdict, "ok", unusable)],
  },
  prompts: {
    change: send("PATCH", `${own}/prompts`, { sections: [{ key: "02-soul", content: "Speak Latin." }] }),
    views: [view(turns, prompted("Speak Latin."), false, true)],
  },
  tools: {
    given: [tools("currentTime")],
    change: tools("getState"),
    views: [view(turns, offered, ["currentTime"], ["getState"])],
  },
  "a hook": {
    change: send("POST", `${own}/hooks`, {
      event: "message_received",
      actionConfig: { toolName: "httpRequest", args: { url: "https://hooks.example/" } },
    }),
    views: [view(conversing, fetched, 0, 1), view(["asked"], fetched, 0, 0)],
  },
  "a skill, on": {
    given: [offerSkill],
    change: enableSkill,
    views: [view(turns, prompted("Prices of tea."), false, true)],
  },
  "a skill, out of the workspace": {
    given: [offerSkill, enableSkill],
    change: (w) => w.send("DELETE", allowance(w)),
    views: [view(turns, prompted("Prices of tea."), true, false)],
  },
  "a skill, deleted": {
    given: [offerSkill, enableSkill],
    change: send("DELETE", `${organization}/skills/shop`),
    views: [view(turns, prompted("Prices of tea."), true, false)],
  },
  // A value that turns of the process have had stays hidden until its next start.
  "a secret": {
    given: [secret(said[0])],
    change: secret(said[1]),
    views: [view(turns, unhidden, [said[1]], [])],
  },
  "a value of a skill": {
    given: [offerSkill, enableSkill, skillEnv(said[0])],
    change: skillEnv(said[1]),
    views: [view(turns, unhidden, [said[1]], [])],
  },
  "monthlyTokenBudget, spent": {
    change: patch({ monthlyTokenBudget: 1 }),
    views: [
      view(conversing, verdict, "ok", spent),
      view(["asked"], verdict, "ok", `The agent helper could not answer: ${spent}`),
      view(["repeated completion", "repeated native"], verdict, "ok", "ok"),
    ],
  },
  "monthlyTokenBudget, lifted": {
    given: [patch({ monthlyTokenBudget: 1 })],
    change: patch({ monthlyTokenBudget: null }),
    views: [view(conversing, verdict, spent, "ok")],
  },
  debugEnabled: {
    change: patch({ debugEnabled: true }),
    views: [view(conversing, debugged, false, true)],
  },
  "the workspace": {
    change: move,
    views: [
      view(["playground"], verdict, "ok", "Agent not found"),
      view(["asked"], verdict, "ok", toolGone),
      view([...keyed, "models"], verdict, "ok", "ok"),
    ],
  },
  "the agent, deleted": {
    given: [open],
    change: send("DELETE", own),
    views: [
      view(keyed, access, "ok, readable", "Unknown model"),
      view(["playground"], verdict, "ok", "Agent not found"),
      view(["asked"], verdict, "ok", toolGone),
      view(["preflight"], access, "ok, readable", "ok"),
      view(["models"], verdict, "ok", "Invalid API key"),
    ],
  },
  "the agent, another one of its slug": {
    given: [open],
    change: remake,
    views: [
      view(keyed, access, "ok, readable", "Invalid API key"),
      view(["completion", "native"], model, null, "demo:new", { key: newKey }),
      view(["resume", "stop"], verdict, "Invalid API key", "Turn not found", { key: newKey }),
      view(["playground"], model, "demo:first", "demo:new"),
      view(["preflight"], access, "ok, readable", "ok"),
    ],
  },
};

/** One door, for one view of a setting. */
type Look = View & { door: DoorName; chatId: string };

const looksOf = (views: readonly View[]): Look[] =>
  views.flatMap((view, index) => view.at.map((door) => ({ ...view, door, chatId: `${door}-${index}` })));

const expected = (looks: readonly Look[], when: "before" | "after") =>
  Object.fromEntries(looks.map((look) => [look.chatId, look[when]]));

/** The conversation continues if the setting is about that, and if a request is repeated. */
const goesOn = ({ door }: Look, name: string) => /repeated|taken/.test(door) || name === "the fields of the agent";

/** A deaf replica may refuse by a copy as old as its last sweep. */
const isRefused = ({ verdict }: Seen) => verdict !== "ok";

test.each(Object.entries(settings))("%s", async (name, { given = [], change, views }) => {
  const w = await world({ asks: views.some(({ at }) => at.includes("asked")) });
  const [here, hearing] = [await w.here(), await w.hearing()];
  // One for each door: the first call that notices a change would load the agent for all others.
  const looks = await Promise.all(looksOf(views).map(async (one) => ({ ...one, deaf: await w.deaf(one.door) })));
  for (const step of given) await step(w);
  // Also where nothing more is requested before the change, the agent is cached.
  for (const at of [here, hearing]) await w.look(at, "native", { key: w.agent.key, chatId: "cached", extra: {} });
  const look = (at: "here" | "hearing" | "deaf", round: number, { deaf, ...one }: (typeof looks)[number]) => {
    const chatId = `${at}-${one.chatId}-${goesOn(one, name) ? 0 : round}`;
    return w.look({ here, hearing, deaf }[at], one.door, { key: w.agent.key, extra: {}, ...one.asked, chatId });
  };

  const before: Record<string, unknown> = {};
  const refused = new Set<Look>();
  for (const one of looks) {
    await one.deaf.engine.closeRevoked();
    const seen = await look("deaf", 1, one);
    before[one.chatId] = await one.see(seen);
    if (isRefused(seen)) refused.add(one);
    if (isRefused(seen) || goesOn(one, name)) await look("here", 1, one);
    if (isRefused(seen)) await look("hearing", 1, one);
  }
  expect(before, "before the change").toEqual(expected(looks, "before"));

  await change(w);
  const after = { here: {}, hearing: {}, deaf: {} } as Record<string, Record<string, unknown>>;
  for (const one of looks) {
    if (refused.has(one)) await one.deaf.engine.closeRevoked();
    // A change that applies at once on a deaf replica does so on a hearing one.
    const places = refused.has(one) ? (["here", "hearing", "deaf"] as const) : (["here", "deaf"] as const);
    for (const at of places) Object.assign(after[at] ?? {}, { [one.chatId]: await one.see(await look(at, 2, one)) });
  }
  const holds = expected(looks, "after");
  expect(after, "after the change").toEqual({
    here: holds,
    hearing: expected([...refused], "after"),
    deaf: holds,
  });
});
