// Lists the API's changes since the last release. Fails when a change may break clients and no changeset announces it
// (CONTRIBUTING.md).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };
import { breakingBump, readChangesets, unannounced } from "./api-changes/changesets.ts";
import type { Document } from "./api-changes/document.ts";
import { compareDocuments } from "./api-changes/operations.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const read = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8")) as Document;

// Until `npm run version`, the package's number is the last release's.
const changes = compareDocuments(read("openapi/released.json"), read("openapi/openapi.json"));
for (const { breaking, text } of changes) console.log(`${breaking ? "BREAKING" : "        "} ${text}`);

const left = unannounced(changes, readChangesets(join(root, ".changeset"), manifest.name), manifest.version);
if (left.length > 0) {
  const subjects = [...new Set(left.map(({ subject }) => subject))];
  const bump = breakingBump(manifest.version);
  console.error(
    `\nClients of ${manifest.version} may break, and no changeset says so. Take that back, or run "npm run changeset",
choose ${bump}, and name in its text: ${subjects.map((subject) => `\`${subject}\``).join(", ")}`,
  );
  process.exitCode = 1;
}
