// Writes the tables of plugins into docs/plugins.md. With `--check` it only compares.
import { readFileSync, writeFileSync } from "node:fs";
import { readFont } from "../src/adapters/node/fonts.ts";
import { shippedPlugins } from "../src/plugins/index.ts";
import { pluginTables } from "./plugin-tables.ts";

const file = new URL("../docs/plugins.md", import.meta.url);
const [begin, end] = ["<!-- Made by `npm run generate` from src/plugins. -->", "<!-- Up to here. -->"];

const current = readFileSync(file, "utf8");
const [before, rest] = current.split(begin);
const after = rest?.split(end)[1];
if (before === undefined || after === undefined) throw new Error(`docs/plugins.md lacks ${begin} or ${end}`);
const document = `${before}${begin}\n\n${pluginTables(shippedPlugins({}, readFont))}\n\n${end}${after}`;

if (!process.argv.includes("--check")) writeFileSync(file, document);
else if (current !== document) {
  console.error("docs/plugins.md differs from src/plugins; run: npm run generate");
  process.exit(1);
}
