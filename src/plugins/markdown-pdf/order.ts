import { z } from "@hono/zod-openapi";
import { zForm } from "../tool.ts";

/** The input of the tool, from the model. */
export const pdfOrder = z.object({
  markdown: z.string().min(1, "must not be empty").describe("The text, in GitHub's markdown. At most 512 KB."),
  title: z
    .string()
    .max(200)
    .optional()
    .describe("The document's title. It stands above the text, unless the text begins with a heading of level 1."),
  fileName: z.string().max(200).optional().describe("The name of the file, such as report.pdf."),
  language: zForm(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$/, "must be a language tag, such as en or pt-BR")
    .optional()
    .describe("The language of the text, such as en or pt-BR, for those to whom it is read aloud."),
  pageSize: z.enum(["A4", "Letter"]).default("A4"),
  landscape: z.boolean().default(false).describe("Pages that are wider than high."),
});

export type PdfOrder = z.input<typeof pdfOrder>;
