import { Semaphore } from "../../core/limits/semaphore.ts";
import { definePlugin, type Plugin } from "../../core/plugins/plugin.ts";
import { describeTool } from "../tool.ts";
import type { ReadFont } from "./fonts/names.ts";
import { pdfOrder } from "./order.ts";

export type { ReadFont } from "./fonts/names.ts";

/** Makes PDF files from Markdown, in this process. */
export function markdownPdfPlugin({ readFont }: { readFont: ReadFont }): Plugin {
  // Two at a time, since each document takes memory while it is made.
  const slots = new Semaphore({ most: 2 });
  return definePlugin({
    namespace: "markdown-pdf",
    title: "Markdown to PDF",
    hosts: [],
    secrets: [],
    tools: [
      describeTool({
        name: "create",
        description:
          "Makes a PDF of markdown and answers a link to it, which you give to the person. Whoever has the link can read the file for 24 hours. Headings become bookmarks, and tables go on over pages. Images are shown if they are PNG or JPEG in a data: address; others become a link with their description. Text may be Latin, Greek or Cyrillic, with symbols and emoji; other scripts are shown as boxes, and `warnings` says so. At most 200 pages.",
        input: pdfOrder,
        writes: true,
        // Nothing leaves the conversation: only the people in it get the link.
        needsApproval: false,
        // Loaded with the first call, since most servers never make a PDF.
        execute: (order, context) =>
          slots.run(undefined, context.signal, async () =>
            (await import("./create.ts")).create(order, context, readFont),
          ),
      }),
    ],
  });
}
