/** The scripts of one run by their file names, including the main script. */
export type ScriptFiles = ReadonlyMap<string, string>;

/** Resolves `request`, as written in `importer`, to a file; or returns why the import is refused. */
export function resolveImport(
  importer: string,
  request: string,
  files: ScriptFiles,
): { file: string } | { refused: string } {
  const refuse = (why: string) => ({ refused: `${importer} cannot import ${JSON.stringify(request)}: ${why}` });
  if (!/^\.{1,2}\//.test(request)) return refuse('a script reaches only others of its skill, as "./name.js"');
  const file = resolvePath(importer, request);
  return file !== null && files.has(file) ? { file } : refuse("the skill has no such script");
}

/** Resolves a relative path; null for one that leads out of the scripts' folder. */
function resolvePath(importer: string, request: string): string | null {
  const path = importer.split("/").slice(0, -1);
  for (const part of request.split("/")) {
    if (part === "." || part === "") continue;
    if (part !== "..") path.push(part);
    else if (path.pop() === undefined) return null;
  }
  return path.join("/");
}
