import { z } from "@hono/zod-openapi";
import type { Clock } from "../../core/ports.ts";
import { zMoment } from "../../core/time/calendar.ts";
import type { JsonValue, Tool } from "../../turn/types.ts";
import { builtin } from "./definition.ts";

const skillName = z.string().describe("The skill's name, as it is listed.");

export const readSkill = builtin({
  name: "readSkill",
  description:
    "Reads the instructions of a skill. Do this before you act on anything that a listed skill is about. Placeholders such as {{skill_env.name.KEY}} stand for values that you can't see: pass them on as they are.",
  category: "Skills",
  input: z.object({ skill: skillName }),
  // Only looks up the skill by its name, which is no secret.
  effect: "none",
  seesSecrets: false,
});

export const runSkillScript = builtin({
  name: "runSkillScript",
  description:
    "Runs a script of a skill and gives back its result and what it logged. Scripts compute: they reach neither files nor the network.",
  category: "Skills",
  input: z.object({
    skill: skillName,
    file: z.string().describe("The script's file, as the skill names it."),
    args: z.unknown().optional().describe("Handed to the script as its global `args`."),
  }),
  // A script only computes. The skill's own secrets reach it through placeholders, not from the model.
  effect: "none",
  seesSecrets: false,
});

const currentTime = builtin({
  name: "currentTime",
  description: "Tells the date and the time now.",
  category: "General",
  input: z.object({
    timezone: z.string().optional().describe("An IANA name such as Europe/Zurich; the assistant's own when absent."),
  }),
  // Only reads the clock; a time zone is no secret.
  effect: "none",
  seesSecrets: false,
});

export const httpRequest = builtin({
  name: "httpRequest",
  description: "Sends a request to a public web address and gives back status, headers and body.",
  category: "Web",
  input: z.object({
    url: z.string().describe("An http or https address."),
    method: z
      .enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
      .optional()
      .describe("GET when absent."),
    headers: z.record(z.string(), z.string()).optional(),
    body: z
      .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
      .optional()
      .describe("Text, or a value that is sent as JSON."),
  }),
  // A request may change something in the service, and the service may need a secret that the model knows.
  effect: "external",
  seesSecrets: true,
});

export const saveMemory = builtin({
  name: "saveMemory",
  description:
    "Remembers a fact about the person you talk with, for later conversations. Use it when they ask you to remember something, or tell you something lasting about themselves. Never save passwords, keys or numbers of cards.",
  category: "Memory",
  input: z.object({
    content: z
      .string()
      .trim()
      .min(1)
      .max(4000)
      .describe("One fact, in a sentence that can be understood by itself; dates instead of words like tomorrow."),
    category: z
      .string()
      .trim()
      .min(1)
      .max(64)
      .optional()
      .describe("One word, such as preferences; general when absent."),
    importance: z.int().min(1).max(10).optional().describe("1 to 10; 5 when absent."),
  }),
  // The fact is stored, so it must contain no secret. The same fact again only updates the memory.
  effect: "none",
  seesSecrets: false,
});

export const searchMemory = builtin({
  name: "searchMemory",
  description:
    "Searches what is remembered about the person you talk with, beyond what you were told already. Gives back the memories that fit best.",
  category: "Memory",
  input: z.object({
    query: z.string().min(1).max(1000).describe("Words that the memory may contain, in the language it was saved in."),
    limit: z.int().min(1).max(20).optional().describe("How many at most; 5 when absent."),
  }),
  // Only reads. Stored memories contain no secrets that a query could reveal.
  effect: "none",
  seesSecrets: false,
});

const stateKey = z.string().trim().min(1).max(128);

const getState = builtin({
  name: "getState",
  description: "Reads the state of this conversation: values that the application or you have noted under a key.",
  category: "State",
  input: z.object({ key: stateKey.optional().describe("One key; all of them when absent.") }),
  // Only reads. Stored keys contain no secrets.
  effect: "none",
  seesSecrets: false,
});

const setState = builtin({
  name: "setState",
  description:
    "Notes a value in the state of this conversation, where it stays for its later turns. Replaces what the key had.",
  category: "State",
  input: z.object({ key: stateKey, value: z.json().describe("Any JSON value; null removes the key.") }),
  // The value is stored, so it must contain no secret. The same value again changes nothing.
  effect: "none",
  seesSecrets: false,
});

export const scheduleTask = builtin({
  name: "scheduleTask",
  description:
    "Has you do something later, once or again and again: you will be told the prompt then, in a new conversation. On a messenger what you say then is sent to the person you talk with now. Give exactly one of cron, everyMinutes and at. Ask for the current time first where a date depends on it.",
  category: "General",
  input: z.object({
    name: z.string().trim().min(1).max(128).describe("A short name by which people recognise the task."),
    prompt: z
      .string()
      .trim()
      .min(1)
      .max(32_768)
      .describe(
        "What you will be told then. Write down all that you need to know: you will not remember this conversation.",
      ),
    cron: z
      .string()
      .optional()
      .describe('Again and again: minute, hour, day of the month, month, day of the week, such as "0 9 * * 1-5".'),
    timezone: z
      .string()
      .max(64)
      .optional()
      .describe("Of cron: an IANA name such as Europe/Zurich; the assistant's own when absent."),
    everyMinutes: z
      .int()
      .min(1)
      .max(527_040)
      .optional()
      .describe("Again and again: every so many minutes from now on, 15 or more for a person."),
    at: zMoment("must be a date and a time with a zone, such as 2026-12-24T09:00:00+01:00")
      .optional()
      .describe("Once: a date and a time with a zone, such as 2026-12-24T09:00:00+01:00."),
    deleteAfterRun: z
      .boolean()
      .optional()
      .describe("Whether the task is forgotten once it went well; true for at when absent."),
  }),
  // The prompt is stored, so it must contain no secret. The same task again is found, not created a second time.
  effect: "none",
  seesSecrets: false,
});

/** Every tool of the engine, as the catalogue lists them. */
export const builtins = [
  ...[readSkill, runSkillScript, currentTime, httpRequest],
  ...[saveMemory, searchMemory, getState, setState, scheduleTask],
] as const;

export const builtinNames: ReadonlySet<string> = new Set(builtins.map(({ name }) => name));

/** `getState` and `setState`, for the state of a turn's conversation. */
export const stateTools: readonly Tool[] = [
  getState.implement(async ({ key }, { state }) =>
    key === undefined ? { state: state.visible() } : { key, value: state.get(key) ?? null },
  ),
  setState.implement(async ({ key, value }, { state }) => {
    state.set(key, value as JsonValue);
    return { saved: true };
  }),
];

/** The tool `currentTime` of an agent whose time zone is `home`. */
export function currentTimeTool(clock: Clock, home: string): Tool {
  return currentTime.implement(async ({ timezone = home }) => {
    const now = new Date(clock.now());
    return { utc: now.toISOString(), local: localTime(now, timezone), timezone };
  });
}

/** A time in the usual form, with the name of its zone. Throws an `Error` for an unknown zone. */
export function localTime(now: Date, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long", timeZone }).format(now);
  } catch {
    throw new Error(`There is no time zone ${timeZone}: give an IANA name such as Europe/Zurich`);
  }
}
