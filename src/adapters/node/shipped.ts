import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readMigrationFiles } from "drizzle-orm/migrator";
import type { Assets } from "../../core/ports.ts";
import type { Migration } from "../../db/migrate.ts";

/** The migrations in `drizzle/` of this package, the oldest first. */
export function readMigrations(): Migration[] {
  return readMigrationFiles({ migrationsFolder: join(packageRoot(), "drizzle") });
}

/** This package's folder, found by its migrations: the bundle and the sources are at different depths. */
function packageRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, "drizzle", "meta", "_journal.json"))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error("The folder drizzle/ of this package is missing: install it again");
    directory = parent;
  }
  return directory;
}

/** The files in folders of this package's `dist/`, such as `docs/swagger-ui.css`, which the build puts there. */
export const shippedAssets: Assets = {
  async read(name) {
    try {
      return await readFile(join(packageRoot(), "dist", name));
    } catch {
      return null;
    }
  },
};
