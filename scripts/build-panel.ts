import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "esbuild";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/**
 * Makes dist/panel: the page, its scripts and its style, named by their contents, each with a compressed copy. Returns
 * esbuild's report on the inputs.
 */
export async function buildPanel() {
  const { metafile } = await build({
    absWorkingDir: path("."),
    entryPoints: { main: "src/panel/main.tsx", style: "src/panel/style/panel.css" },
    outdir: "dist/panel",
    entryNames: "[name]-[hash]",
    chunkNames: "part-[hash]",
    bundle: true,
    // Pages load only when opened.
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  const files = Object.keys(metafile.outputs);
  for (const file of files) {
    const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    writeFileSync(path(`${file}.br`), brotliCompressSync(readFileSync(path(file)), options));
  }
  const outputOf = (entry: string) => {
    const found = files.find((file) => metafile.outputs[file]?.entryPoint === entry);
    if (!found) throw new Error(`The build made nothing of ${entry}`);
    return basename(found);
  };
  writeFileSync(
    path("dist/panel/index.html"),
    page({ script: outputOf("src/panel/main.tsx"), style: outputOf("src/panel/style/panel.css") }),
  );
  return metafile;
}

/** The addresses are relative, so that a proxy may serve the panel under another path. */
const page = ({ script, style }: { script: string; style: string }) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Agent Engine</title>
<link rel="icon" href="favicon.svg">
<link rel="stylesheet" href="panel/${style}">
<script type="module" src="panel/${script}"></script>
</head>
<body>
<noscript><p>The panel needs JavaScript. Everything in it can be done over <a href="docs">the API</a> too.</p></noscript>
</body>
</html>
`;
