import type { Readable } from "node:stream";
import type { Log, McpServer } from "../../../core/ports.ts";
import { scrubber } from "../../../core/scrub/scrub.ts";
import { clip } from "../../../core/text/text.ts";
import { mostWireBytes } from "./bounds.ts";
import { Lines } from "./lines.ts";

const mostLines = 200;
const longestLine = 1_000;
const longestWords = 300;

/** Matches the line with the problem. Many processes print more lines after it. */
const errorWord = /error\b/i;

/**
 * Logs the lines of a process's error stream, up to 200 and without credentials. The returned function gives the line
 * that best explains why the process ended, as `: <line>`, or "".
 */
export function logErrors(stderr: Readable, { log, server }: { log: Log; server: McpServer }): () => string {
  const scrub = scrubber(server.secrets).stream();
  const lines = new Lines();
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  let logged = 0;
  let lastWords = "";

  const logLine = (line: string) => {
    if (line.trim() === "" || logged >= mostLines) return;
    logged += 1;
    if (errorWord.test(line) || !errorWord.test(lastWords)) lastWords = `: ${clip(line.trim(), longestWords)}`;
    log.info({ plugin: server.name, line: clip(line, longestLine) }, "An MCP server wrote to its error stream");
    if (logged === mostLines) log.info({ plugin: server.name }, "No more of what it writes is logged");
  };
  stderr.on("data", (chunk: Buffer) => {
    // The stream is read on when no more is logged, since a full pipe would block the process.
    if (logged >= mostLines || lines.pending > mostWireBytes) return;
    const clean = scrub.push(decoder.decode(chunk, { stream: true }));
    for (const line of lines.push(encoder.encode(clean))) logLine(line);
  });
  return () => lastWords;
}
