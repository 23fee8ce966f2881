import fc from "fast-check";
import { expect, test } from "vitest";
import { promptKeys } from "../../../src/features/prompts/sections.ts";
import { builtinNames } from "../../../src/features/tools/index.ts";
import { harness } from "../../harness.ts";
import { type Bundle, caller, icon, shopSkill, withoutSecrets } from "./full-agent.ts";

const word = fc.constantFrom("a", "b", "ä", "zürich", "Ω 🫖", "constructor", "10", "2");
const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => !value.includes("{"));
const place = fc.constantFrom({}, { outboundChannel: "slack", outboundTarget: "C1" }, { outboundTarget: null });
const few = <T>(one: fc.Arbitrary<T>, max = 4) => fc.array(one, { maxLength: max });
const once = <T, K>(one: fc.Arbitrary<T>, selector: (value: T) => K) => fc.uniqueArray(one, { maxLength: 4, selector });
const args = fc.dictionary(word, fc.oneof(text, fc.integer(), fc.constant(null), fc.array(fc.boolean())));

const settings = fc.record(
  {
    name: word,
    description: text,
    temperature: fc.constantFrom(null, 0, 0.3, 2),
    active: fc.boolean(),
    maxSteps: fc.integer({ min: 1, max: 128 }),
    authEnabled: fc.boolean(),
    debounceMs: fc.constantFrom(null, 5),
    monthlyTokenBudget: fc.constantFrom(null, 0, 9e15),
    fastModel: fc.constantFrom(null, "openai:gpt-5-nano"),
    optoutStopKeywords: few(word),
    timezone: fc.constantFrom("UTC", "Europe/Rome"),
    icon: fc.constantFrom(null, icon),
  },
  { requiredKeys: [] },
);
const definition = fc.record(
  {
    name: word,
    matchingPrompt: word,
    action: fc.constantFrom("backlog", "conversation"),
    enabled: fc.boolean(),
    priority: fc.integer({ min: 0, max: 2 }),
    contextPrompt: text,
    conditions: few(fc.record({ path: word, equals: fc.oneof(text, fc.boolean(), fc.constant(null)) })),
  },
  { requiredKeys: ["name", "matchingPrompt", "action"] },
);
const schedule = fc.constantFrom(
  { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Rome" },
  { type: "interval", everyMs: 60_000 },
  { type: "one-shot", runAt: "2020-01-01T00:00:00Z" },
  { type: "one-shot", runAt: "2027-01-01T00:00:00+02:00" },
);
const task = fc.tuple(fc.record({ name: word, prompt: word, schedule, enabled: fc.boolean() }), place);
const hook = fc.record(
  {
    event: fc.constantFrom("message_received", "response_generated"),
    enabled: fc.boolean(),
    position: fc.integer({ min: 0, max: 2 }),
    timeoutMs: fc.integer({ min: 1000, max: 30_000 }),
    actionConfig: fc.record({ toolName: fc.constantFrom(...builtinNames), args }),
  },
  { requiredKeys: ["event", "actionConfig"] },
);
const parts = fc.record(
  {
    prompts: once(fc.record({ key: fc.constantFrom(...promptKeys), content: text }), ({ key }) => key),
    skills: fc.constantFrom(
      [],
      [{ skillSlug: "shop" }],
      [{ skillSlug: "shop", enabled: false, pinnedVersion: "0.1.0" }],
    ),
    manualTools: few(fc.constantFrom(...builtinNames)),
    toolsNeedingApproval: few(fc.constantFrom(...builtinNames)),
    channels: fc.constantFrom(
      [],
      [{ channelType: "web", enabled: true, config: { contextMapping: { b: "a", a: "b.c" } } }],
      [
        { channelType: "agent", enabled: false },
        { channelType: "slack", enabled: true, config: { transport: "socket" } },
      ],
    ),
    skillEnv: fc.constantFrom([], [{ skillSlug: "shop", env: [{ key: "SHOP_URL", sensitive: false, value: "x" }] }]),
    hooks: few(hook),
    room: fc.oneof(
      fc.constant(null),
      fc.tuple(fc.record({ prompt: text }), place).map(([a, b]) => ({ ...a, ...b })),
    ),
    eventSources: few(fc.record({ name: word, sourceType: word, config: args, definitions: few(definition, 5) })),
    scheduledTasks: few(task.map(([a, b]) => ({ ...a, ...b }))),
  },
  { requiredKeys: [] },
);

test("an imported bundle is exported unchanged, again and again, whatever the agent was before", async () => {
  const h = await harness();
  const call = caller(h, await h.as("owner"));
  await shopSkill(h, call);
  await call("POST", "/api/instances", { slug: "target" });
  const exported = async (slug: string) => call<Bundle>("GET", `/api/instances/${slug}/export`);
  const plain = (bundle: Bundle) => JSON.stringify({ ...bundle.instance, slug: "" });

  await fc.assert(
    fc.asyncProperty(settings, parts, async (own, rest) => {
      const bundle = { version: "1.3", type: "instance", instance: { ...own, ...rest, slug: "made" } };
      const { slug } = await call("POST", "/api/instances/import", bundle);
      const first = await exported(slug);
      // Over itself.
      const { warnings } = await call("POST", `/api/instances/${slug}/import`, first);
      expect(plain(await exported(slug))).toBe(plain(first));
      expect(warnings.filter(({ type }) => type !== "schedule_past")).toEqual([]);
      // Over an agent that another bundle made, and as a new one.
      await call("POST", "/api/instances/target/import", first);
      expect(withoutSecrets(await exported("target"))).toEqual(withoutSecrets(first));
      const copy = await call("POST", "/api/instances/import", first);
      expect(plain(await exported(copy.slug))).toBe(plain(first));
      for (const made of [slug, copy.slug]) await call("DELETE", `/api/instances/${made}`);
    }),
    { numRuns: 8 },
  );
});
