/** The scripts of one run by their files, the script to run included. */
export type ScriptFiles = ReadonlyMap<string, string>;

/** The file that `importer` means with `request`, or the reason why the import is refused. */
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

/** Null for a path that leads out of the folder of the scripts. */
function resolvePath(importer: string, request: string): string | null {
  const path = importer.split("/").slice(0, -1);
  for (const part of request.split("/")) {
    if (part === "." || part === "") continue;
    if (part !== "..") path.push(part);
    else if (path.pop() === undefined) return null;
  }
  return path.join("/");
}
