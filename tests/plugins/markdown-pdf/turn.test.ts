import { expect, test } from "vitest";
import { readFont } from "../../../src/adapters/node/fonts.ts";
import { markdownPdfPlugin } from "../../../src/plugins/markdown-pdf/index.ts";
import { chatHarness, readEvents } from "../../features/chat/chat.ts";
import { finish, reply, scriptedModel, toolCall } from "../../scripted-model.ts";
import { readPdf } from "./read-pdf.ts";

test("an agent makes a PDF in a turn, and a person opens it by its link", async () => {
  const args = { markdown: "# Plan\n\n- tea 你", fileName: "../plan" };
  const model = scriptedModel((_, index) =>
    index > 0
      ? reply("Here it is.")
      : {
          parts: [
            ...toolCall("c0", "markdown-pdf__create", args),
            ...toolCall("c1", "markdown-pdf__create", { markdown: "" }),
            finish("tool-calls"),
          ],
        },
  );
  const plugins = [markdownPdfPlugin({ readFont })];
  const h = await chatHarness(model, {}, { plugins });
  const { slug, headers } = h.agent;
  const enabled = ["markdown-pdf:create"];
  await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json: { enabled } });
  await readEvents(await h.native("A plan, please", { chat_id: "c" }));
  const told = model.calls[1]?.prompt.at(-1);
  const [made, refused] = (told?.role === "tool" ? told.content : []).map((part) =>
    part.type === "tool-result" && "value" in part.output ? part.output.value : null,
  );
  expect(made).toEqual({
    id: expect.any(String),
    name: "plan.pdf",
    pages: 1,
    size: expect.any(Number),
    url: expect.stringContaining("/files/"),
    expiresAt: expect.any(String),
    warnings: ["The fonts lack these characters, which are shown as boxes: 你 (U+4F60)"],
  });
  expect(refused).toMatch(/markdown/);
  const { url, size } = made as { url: string; size: number };
  const answer = await h.request(url);
  expect(answer.headers.get("content-type")).toBe("application/pdf");
  const bytes = new Uint8Array(await answer.arrayBuffer());
  expect(bytes.length).toBe(size);
  expect((await readPdf(bytes)).texts).toEqual(["Plan\n• tea 你"]);
});
