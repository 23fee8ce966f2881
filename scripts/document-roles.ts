// Writes the permissions of the built-in roles into docs/teams.md. With `--check` it only compares.
import { readFileSync, writeFileSync } from "node:fs";
import { permissions, roles } from "../src/core/credentials/permissions.ts";

const file = new URL("../docs/teams.md", import.meta.url);
const [begin, end] = [
  "<!-- Made by `npm run generate` from src/core/credentials/permissions.ts. -->",
  "<!-- Up to here. -->",
];

const columns = [roles.viewer, roles.member, roles.admin, roles.owner];
const nouns = [...Map.groupBy([...permissions].sort(), (permission) => permission.split(":")[0] ?? "")];
const verbOf = (permission: string) => permission.split(":")[1] ?? "";
const rows = nouns.map(([noun, of]) => {
  const cells = columns.map((held) =>
    of
      .filter((permission) => held.has(permission))
      .map(verbOf)
      .join(", "),
  );
  return `| \`${noun}\` | ${cells.join(" | ")} |`.replaceAll("  ", " ");
});
const table = ["| | Viewer | Member | Admin | Owner |", "|---|---|---|---|---|", ...rows].join("\n");

const current = readFileSync(file, "utf8");
const [before, rest] = current.split(begin);
const after = rest?.split(end)[1];
if (before === undefined || after === undefined) throw new Error(`docs/teams.md lacks ${begin} or ${end}`);
const document = `${before}${begin}\n\n${table}\n\n${end}${after}`;

if (!process.argv.includes("--check")) writeFileSync(file, document);
else if (current !== document) {
  console.error("docs/teams.md differs from src/core/credentials/permissions.ts; run: npm run generate");
  process.exit(1);
}
