import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Assets } from "../../core/ports.ts";
import { packageRoot } from "./migrations.ts";

/** The files in `dist/docs/` of this package, which the build puts there. */
export const shippedAssets: Assets = {
  async read(name) {
    try {
      return await readFile(join(packageRoot(), "dist", "docs", name));
    } catch {
      return null;
    }
  },
};
