import { copyFileSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const files = ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "LICENSE", "NOTICE"];

/** Makes dist/docs: the files that the page `/docs` loads, with their licences. */
export function copyDocs(): void {
  const folder = new URL("../dist/docs/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const name of files) {
    copyFileSync(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)), new URL(name, folder));
  }
}
