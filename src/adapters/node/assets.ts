import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Assets } from "../../core/ports.ts";
import { packageRoot } from "./migrations.ts";

/** The files in folders of `dist/` of this package, such as `docs/swagger-ui.css`, which the build puts there. */
export const shippedAssets: Assets = {
  async read(name) {
    try {
      return await readFile(join(packageRoot(), "dist", name));
    } catch {
      return null;
    }
  },
};
