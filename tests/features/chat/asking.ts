import type { ModelSpec } from "../../../src/core/ports.ts";
import { conversations, messages, turns } from "../../../src/db/schema.ts";
import {
  finish,
  reply,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptStep,
  scriptedModel,
  text,
  toolCall,
} from "../../scripted-model.ts";
import { chatHarness, readEvents } from "./chat.ts";

type Script = (call: ScriptedCall, index: number) => ScriptStep;

/** A model that asks the helper once for each user message and then replies. */
export const askOnce: Script = ({ prompt }) => {
  const last = prompt.at(-1);
  if (last?.role === "tool") return reply("Done.");
  return { parts: [...toolCall("c", "ask_helper", { message: "How long?" }), finish("tool-calls")] };
};

/** The tool results of the last step, as the model read them. */
export function heard(model: ScriptedModel): unknown[] {
  const last = model.calls.at(-1)?.prompt.at(-1);
  if (last?.role !== "tool") return [];
  return last.content.map((part) => (part.type === "tool-result" && "value" in part.output ? part.output.value : null));
}

/** The agents `caller` and `helper`, each with its own model; `helper` is a tool of `caller`. */
export async function asking({
  caller = askOnce,
  helper = () => ({ parts: [...text("Thirty days."), finish("stop", { input: 40, output: 10 })] }),
  fields = {},
  more = {},
}: {
  caller?: Script;
  helper?: Script;
  fields?: object;
  more?: Parameters<typeof chatHarness>[2];
} = {}) {
  const models = { caller: scriptedModel(caller), helper: scriptedModel(helper) };
  const resolve = async ({ model }: ModelSpec) => (model === "caller" ? models.caller : models.helper);
  const h = await chatHarness(undefined, { slug: "caller", model: "caller" }, { models: { resolve }, ...more });
  const { database } = h.services;
  const send = async (method: string, path: string, json?: unknown) => {
    const { headers } = h.agent;
    const answer = await h.request(path, { method, headers, ...(json === undefined ? {} : { json }) });
    if (!answer.ok) throw new Error(`${method} ${path} got ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  // The helper has no Web channel, since agents need none to ask it.
  await send("POST", "/api/instances", { slug: "helper", provider: "demo", model: "helper", ...fields });
  const enable = (slug: string, enabled: string[], needsApproval: string[] = []) =>
    send("PATCH", `/api/instances/${slug}/tools`, { enabled, needsApproval });
  await enable("caller", ["agent:helper"]);
  return {
    ...h,
    models,
    send,
    enable,
    say: async (content: string, extra: object = { chat_id: "c" }) => readEvents(await h.native(content, extra)),
    /** The helper's stored conversations, messages and turns. */
    helped: async () => {
      const { db } = database;
      const asked = (await db.select().from(conversations)).filter(({ channel }) => channel === "agent");
      const ids = new Set(asked.map(({ id }) => id));
      return {
        conversations: asked,
        messages: (await db.select().from(messages).orderBy(messages.seq)).filter((one) => ids.has(one.conversationId)),
        turns: (await db.select().from(turns).orderBy(turns.createdAt)).filter(({ door }) => door === "agent"),
      };
    },
    parent: async () => (await database.db.select().from(conversations)).find(({ channel }) => channel === "web"),
  };
}
