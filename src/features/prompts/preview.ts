import type { Ctx } from "../../context/ctx.ts";
import { findAgent } from "../agents/index.ts";
import { loadSkills, skillsList } from "../skills/index.ts";
import { assemblePrompt } from "./assemble.ts";
import { datetimeIn } from "./datetime.ts";
import type { PromptChange } from "./schema.ts";
import { loadPrompts } from "./service.ts";

/**
 * The system prompt that a first message of the caller would get, with these sections in place of the stored ones.
 * Throws the 404 of the agent.
 */
export async function previewPrompt(ctx: Ctx, slug: string, changes: readonly PromptChange[]): Promise<string> {
  const { id, workspaceId, name, description, timezone } = await findAgent(ctx, slug);
  const stored = await loadPrompts(ctx.db, id);
  const sections = new Map(stored);
  for (const { key, content } of changes) {
    if (content === null) sections.delete(key);
    else sections.set(key, content);
  }
  const { served } = await loadSkills(ctx.db, ctx, { agentId: id, workspaceId });
  return assemblePrompt(sections, {
    ...{ name, description, timezone },
    skillsList: skillsList(served),
    datetime: datetimeIn(timezone)(ctx.clock.now()),
    userName: ctx.actor.name ?? "",
    memories: "",
    state: "",
  });
}
