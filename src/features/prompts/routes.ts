import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { ifMatchHeader, revisionTag, slugParam } from "../agents/index.ts";
import { PromptChanges, PromptDraft, PromptPreview, Prompts } from "./schema.ts";
import { listPrompts, previewPrompt, savePrompts } from "./service.ts";

const tags = ["Prompts"];
const path = "/api/instances/{slug}/prompts";

const list = guarded("agent.prompt:read", {
  method: "get",
  path,
  operationId: "listPrompts",
  tags,
  summary: "The prompt of an agent",
  description:
    "All eight sections in the order in which they make up the prompt, with the engine's own text where none is stored.",
  request: { params: slugParam },
  responses: { 200: json(Prompts, "The sections; the agent's revision is also the `ETag`."), ...errorAnswers(404) },
});

const save = guarded("agent.prompt:write", {
  method: "patch",
  path,
  operationId: "savePrompts",
  tags,
  summary: "Change sections of an agent's prompt",
  description: `Sections that are not named stay as they are. Takes effect with the next turn.

Placeholders: \`{{name}}\` and \`{{description}}\` of the agent, \`{{skillsList}}\`, \`{{memories}}\` of the user, \`{{state}}\` of the conversation, \`{{userName}}\`, \`{{datetime}}\`, \`{{timezone}}\`. Blanks inside the braces mean nothing. Any other \`{{…}}\` stays as it is, and what a value holds is not filled in itself. Named again, values are filled in up to 1,048,576 characters in all; further placeholders stay. A line that holds nothing but a placeholder, or a label with a colon before it, is left out when there is nothing to say, and so are a lead-in with a colon and a heading that have nothing left below. Enabled skills, memories and state are added to their section when no section names their placeholder, unless that section is empty.

Values that change with each turn (\`{{memories}}\`, \`{{state}}\`, \`{{userName}}\`, \`{{datetime}}\`) belong into the last three sections: providers' prompt caches reach as far as the first difference.`,
  request: { params: slugParam, headers: ifMatchHeader, body: jsonBody(PromptChanges) },
  responses: { 200: json(Prompts, "All sections as they are now."), ...errorAnswers(404, 412) },
});

const preview = guarded("agent.prompt:read", {
  method: "post",
  path: `${path}/preview`,
  operationId: "previewPrompts",
  tags,
  summary: "Read the assembled prompt of an agent",
  description:
    "The sections with everything filled in: the agent's skills, the caller's name and the time; the memories and the state of a conversation are empty. `sections` take the place of the stored ones, and nothing is stored.",
  request: { params: slugParam, body: jsonBody(PromptDraft) },
  responses: { 200: json(PromptPreview, "The prompt."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/prompts`. */
export const promptRoutes = router()
  .openapi(list, async (c) => {
    const prompts = await listPrompts(c.var.ctx, c.req.valid("param").slug);
    return c.json(prompts, 200, revisionTag(prompts));
  })
  .openapi(save, async (c) => {
    const { slug } = c.req.valid("param");
    const { sections } = c.req.valid("json");
    const prompts = await savePrompts(c.var.ctx, slug, sections, c.req.valid("header")["if-match"]);
    return c.json(prompts, 200, revisionTag(prompts));
  })
  .openapi(preview, async (c) => {
    const { sections = [] } = c.req.valid("json");
    return c.json({ prompt: await previewPrompt(c.var.ctx, c.req.valid("param").slug, sections) }, 200);
  });
