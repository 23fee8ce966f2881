import { expect, test } from "vitest";
import { builtins } from "../../src/features/tools/builtin.ts";
import { toolWords } from "../../src/panel/pages/agents/agent/tool-words.ts";

test("every tool of the engine has words for people, and none of them speaks to a model", () => {
  for (const tool of builtins) {
    const { title, about } = toolWords(tool);
    expect(about, tool.name).not.toBe(tool.description);
    expect(`${title} ${about}`, tool.name).not.toMatch(/\byou\b|\{\{/i);
  }
});

test.each([
  ["github:listPullRequests", "plugin", "Lists pull requests. Give a repository.", "List pull requests"],
  ["linear:create_issue", "mcp", "Creates an issue", "Create issue"],
  ["markdown-pdf:create", "plugin", "Makes a PDF. You pass Markdown.", "Create"],
  ["erp:getSKU", "mcp", "Reads e.g. a price", "Get SKU"],
  ["agent:tea.master", "agent", "Asks the agent Tea: knows tea. Ask it.", "Ask tea.master"],
] as const)("%s of a %s is named for people", (name, origin, description, title) => {
  expect(toolWords({ name, origin, description }).title).toBe(title);
  expect(description.startsWith(toolWords({ name, origin, description }).about)).toBe(true);
});

test("a long description is cut behind its first sentence, and no abbreviation ends one", () => {
  const about = (description: string) => toolWords({ name: "a:b", origin: "mcp", description }).about;
  expect(about("Reads e.g. a price, v1.2. Call it once.")).toBe("Reads e.g. a price, v1.2.");
  expect(about("One line\nand more. And on.")).toBe("One line\nand more.");
  expect(about("Lists issues. `next` is the next page.")).toBe("Lists issues.");
  expect(about("")).toBe("");
});
