import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { EmscriptenBuiltinFilesystem } from "@electric-sql/pglite/basefs";
import { folderAt, unpackTemplate } from "./template.ts";

export interface DataSettings {
  /** The directory of the data; null stores the data in memory. */
  directory: string | null;
  /** A file to fill an empty directory with; null creates the database from nothing, which takes seconds. */
  template: string | null;
  /** Whether the directory must already contain a database. A missing one, as on an unmounted disk, is not created. */
  existing?: boolean;
}

const { PGDATA: mountPoint } = PGlite.paths;

/**
 * The data of a database. PGlite loads its program before the directory is known; nothing is read or written until
 * then.
 */
export class LateDirectory extends EmscriptenBuiltinFilesystem {
  readonly #settings: Promise<DataSettings>;

  constructor(settings: Promise<DataSettings>) {
    super();
    this.#settings = settings;
  }

  /** PGlite calls this after loading its program and before looking for a database. */
  override async initialSyncFs(): Promise<void> {
    const { directory, template, existing = false } = await this.#settings;
    const { FS, NODEFS } = this.pg?.Module ?? {};
    if (!FS) throw new Error("The database was not initialized");
    const empty = directory === null || !existsSync(join(directory, "PG_VERSION"));
    if (empty && existing) throw new Error("PG_VERSION is missing");
    FS.mkdirTree(mountPoint);
    if (directory === null) {
      const mkdir = (path: string) => void FS.mkdirTree(`${mountPoint}/${path}`);
      if (template !== null) {
        // Copies the bytes, since Emscripten would otherwise keep a view of Node's buffer.
        const write = (path: string, bytes: Uint8Array) => FS.writeFile(`${mountPoint}/${path}`, new Uint8Array(bytes));
        unpackTemplate(template, { mkdir, write });
      }
      return;
    }
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (empty && template !== null) unpackTemplate(template, folderAt(directory));
    FS.mount(NODEFS, { root: directory }, mountPoint);
  }

  override async closeFs(): Promise<void> {
    this.pg?.Module.FS.quit();
  }
}
