import type { Readable } from "node:stream";
import type { Log, McpServer } from "../../../core/ports.ts";
import { scrubber } from "../../../core/scrub.ts";
import { clip } from "../../../core/text.ts";
import { Lines, mostWireBytes } from "./lines.ts";

const mostLines = 200;
const longestLine = 1_000;
const longestWords = 300;

/** Many a process says more after it has said what is wrong. */
const telling = /error\b/i;

/**
 * Logs what a process writes to its error stream, without its credentials and as long as it is not too much. The result
 * answers what it said last, to be put after the news that it ended.
 */
export function logErrors(stderr: Readable, { log, server }: { log: Log; server: McpServer }): () => string {
  const scrub = scrubber(server.secrets).stream();
  const lines = new Lines();
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  let logged = 0;
  let lastWords = "";

  const note = (line: string) => {
    if (line.trim() === "" || logged >= mostLines) return;
    logged += 1;
    if (telling.test(line) || !telling.test(lastWords)) lastWords = `: ${clip(line.trim(), longestWords)}`;
    log.info({ plugin: server.name, line: clip(line, longestLine) }, "An MCP server wrote to its error stream");
    if (logged === mostLines) log.info({ plugin: server.name }, "No more of what it writes is logged");
  };
  stderr.on("data", (chunk: Buffer) => {
    // It is read to its end whatever it says: a full pipe would stop the process.
    if (logged >= mostLines || lines.pending > mostWireBytes) return;
    const clean = scrub.push(decoder.decode(chunk, { stream: true }));
    for (const line of lines.push(encoder.encode(clean))) note(line);
  });
  return () => lastWords;
}
