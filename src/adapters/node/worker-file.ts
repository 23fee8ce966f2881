/** The file of a thread: `<folder>/worker.ts` in a checkout, `<folder>-worker.js` next to the bundled program. */
export function workerFile(folder: "embedded" | "password" | "scripts"): URL {
  const { url } = import.meta;
  return new URL(url.endsWith(".ts") ? `./${folder}/worker.ts` : `./${folder}-worker.js`, url);
}
