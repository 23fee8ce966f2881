import { expect, test } from "vitest";
import { readFont } from "../../src/adapters/node/fonts.ts";
import { shippedPlugins } from "../../src/plugins/index.ts";

const tools = shippedPlugins({}, readFont).flatMap(({ namespace, tools }) =>
  tools.map((tool) => ({ ...tool, name: `${namespace}:${tool.name}` })),
);

test.each(
  tools.map(({ name, parameters }) => [name, parameters] as const),
)("the schema of %s is one that every provider takes, and small", (_, parameters) => {
  const text = JSON.stringify(parameters);
  expect(parameters).toMatchObject({ type: "object", properties: {} });
  expect(text).not.toMatch(/"(pattern|patternProperties|propertyNames|\$ref|\$schema)":/);
  expect(text.length).toBeLessThan(1_500);
});

test("a missing argument, or one of another type, is reported by every tool that needs one", async () => {
  const strict = tools.filter(({ parameters }) => Array.isArray(parameters.required));
  expect(strict.length).toBeGreaterThan(20);
  for (const { execute } of strict) {
    const context = {} as Parameters<typeof execute>[1];
    await expect(execute({}, context)).rejects.toThrow(/^The arguments are not valid: /);
  }
});
