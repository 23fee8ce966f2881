import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { promptKeys } from "./sections.ts";

const key = z.enum(promptKeys, `must be one of: ${promptKeys.join(", ")}`).openapi({ example: "02-soul" });

export const Prompts = z
  .object({
    prompts: z.array(
      z
        .object({
          key,
          filename: z.string().openapi({ example: "02-soul.md" }),
          title: z.string().openapi({ example: "Soul" }),
          content: z.string().openapi({
            description: "The text with its placeholders; empty: the section is left out.",
            example: "Be friendly and brief.",
          }),
          isDefault: z.boolean().openapi({ description: "Whether it is the engine's own text: none is stored." }),
        })
        .openapi("Prompt"),
    ),
    revision: z
      .int()
      .openapi({ description: "The agent's revision; send it as `If-Match` with a change.", example: 3 }),
  })
  .openapi("Prompts");
export type Prompts = z.infer<typeof Prompts>;

const change = z.object({
  key,
  content: zText(32_768).nullable().openapi({
    description: "Empty: the section is left out. Null, and the default's own text: the default.",
    example: "Be friendly and brief.",
  }),
});
export type PromptChange = z.infer<typeof change>;

const distinct = (changes: readonly PromptChange[]) => new Set(changes.map((one) => one.key)).size === changes.length;

export const PromptChanges = z
  .object({
    sections: z
      .array(change)
      .min(1, "must name at least one section")
      .max(promptKeys.length, `must have at most ${promptKeys.length} entries`)
      .refine(distinct, "must not name a key twice"),
  })
  .openapi("PromptChanges");

export const PromptDraft = z
  .object({ sections: PromptChanges.shape.sections.optional() })
  .openapi("PromptDraft", { example: { sections: [{ key: "02-soul", content: "Be friendly and brief." }] } });

export const PromptPreview = z
  .object({
    prompt: z.string().openapi({ description: "The system prompt as the model would get it now." }),
  })
  .openapi("PromptPreview");

/** An agent's stored sections in a bundle; the other sections have their default. */
export const bundledPrompts = z
  .array(z.object({ key, content: change.shape.content.unwrap() }))
  .max(promptKeys.length, `must have at most ${promptKeys.length} entries`)
  .refine(distinct, "must not name a key twice");
export type BundledPrompts = z.infer<typeof bundledPrompts>;
