// Writes docs/configuration.md from src/core/config.ts. With `--check` it only compares.
import { readFileSync, writeFileSync } from "node:fs";
import { format } from "node:util";
import { settings } from "../src/core/config.ts";
import { providerVariables } from "../src/core/models/providers.ts";

const file = new URL("../docs/configuration.md", import.meta.url);

function row(name: string, description: string, fallback: unknown): string {
  const empty = fallback === undefined || (Array.isArray(fallback) && fallback.length === 0);
  return `| \`${name}\` | ${empty ? "" : `\`${format("%s", Array.isArray(fallback) ? fallback.join(",") : fallback)}\``} | ${description} |`;
}

const rows = Object.entries(settings.shape).map(([name, field]) => {
  if (!field.description) throw new Error(`${name} has no description in src/core/config.ts`);
  return row(name, field.description, field.safeParse(undefined).data);
});

const document = `# Configuration

<!-- Made by \`npm run generate\` from src/core/config.ts: change it there. -->

Settings are environment variables. A file \`.env\` in the working directory is read too; a variable of the process wins
over one of the file, also where it is empty, which counts as absent. One that is there and can't be read, or is not UTF-8,
ends the command. When settings are wrong, the server lists every problem at once and does not start.

| Variable | Default | What it is for |
|---|---|---|
${rows.join("\n")}

## Model providers

These stand in for an agent's own secrets, in the providers' own spelling. The first provider that has a key here is the
default of agents without a model; with none of them the built-in \`demo\` model answers.

| Variable | Stands in for the agent secret |
|---|---|
${Object.entries(providerVariables)
  .map(([variable, secret]) => `| \`${variable}\` | \`${secret}\` |`)
  .join("\n")}

## Two ways to store

**Embedded** (no \`DATABASE_URL\`): PostgreSQL runs inside the process and keeps its files in \`DATA_DIR\`. The encryption key
is made at the first start, in \`DATA_DIR/encryption.key\`. Back up the whole directory while the server is stopped. One
process uses a directory at a time. It survives a killed process; for machines that may lose power use a PostgreSQL server.

**PostgreSQL** (\`DATABASE_URL\`): version 15 or newer, with UTF-8. Migrations run at the start; several replicas may start
together. \`ENCRYPTION_KEY\` must be set, and be the same for all replicas:

\`\`\`sh
export ENCRYPTION_KEY=$(openssl rand -base64 32)
\`\`\`

To change the key: [cli.md](cli.md#rotate-key).

Between the two nothing moves by itself: with \`DATABASE_URL\` a server begins anew. Agents and skills move as
[files](agents-as-files.md), by \`agent-engine pull\` before and \`agent-engine apply\` once there is an owner; people, keys,
secrets, conversations and memories do not.

## Logs

The log goes to standard error: JSON lines, or coloured text on a terminal. Credentials are blotted out.
`;

if (process.argv.includes("--check")) {
  let current = "";
  try {
    current = readFileSync(file, "utf8");
  } catch {
    // An absent file counts as different.
  }
  if (current !== document) {
    console.error("docs/configuration.md differs from src/core/config.ts; run: npm run generate");
    process.exit(1);
  }
} else {
  writeFileSync(file, document);
}
