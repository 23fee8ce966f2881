import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/**
 * Where the proxy cuts a connection: after this many events of the answer (comments do not count), at "answer" before
 * its first byte, at "request" before passing on anything; null for no cut.
 */
export type Cut = number | "answer" | "request" | null;

export interface Passed {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** The status of the answer; null before there is one. */
  status: number | null;
}

/** A proxy on a real socket that cuts its connections where the test wants. `target` may change, as after a restart. */
export async function cuttingProxy(target: string, cutOf: (passed: Passed, index: number) => Cut | Promise<Cut>) {
  const proxy = { url: "", target, passed: [] as Passed[] };
  const server = createServer(async (request, response) => {
    const passed = await read(request);
    const cut = await cutOf(passed, proxy.passed.push(passed) - 1);
    if (cut === "request") return void response.destroy();
    const left = new AbortController();
    response.once("close", () => left.abort());
    try {
      await pass(`${proxy.target}${passed.path}`, passed, { response, cut, signal: left.signal });
    } catch {
      response.destroy();
    }
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The proxy has no port");
  proxy.url = `http://127.0.0.1:${address.port}`;
  return proxy;
}

async function read(request: IncomingMessage): Promise<Passed> {
  const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
  return { method: request.method ?? "", path: request.url ?? "", headers, body: await text(request), status: null };
}

async function pass(
  url: string,
  passed: Passed,
  { response, cut, signal }: { response: ServerResponse; cut: Cut; signal: AbortSignal },
): Promise<void> {
  const { method, headers, body } = passed;
  const answer = await fetch(url, { method, headers, signal, ...(body === "" ? {} : { body }) });
  passed.status = answer.status;
  if (cut === "answer") throw new Error("cut");
  // The body is uncompressed by now.
  const { "content-encoding": _, "content-length": __, ...others } = Object.fromEntries(answer.headers);
  response.writeHead(answer.status, others);
  const decoder = new TextDecoder();
  let rest = "";
  let events = 0;
  for await (const bytes of answer.body ?? []) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split(/(?<=\n\n)/);
    rest = blocks.at(-1)?.endsWith("\n\n") ? "" : (blocks.pop() ?? "");
    for (const block of blocks) {
      if (events === cut && !block.startsWith(":")) throw new Error("cut");
      await new Promise((resolve) => response.write(block, resolve));
      if (!block.startsWith(":")) events += 1;
    }
    // A stream that waits is cut here too, without another event after the last one.
    if (events === cut) throw new Error("cut");
  }
  response.end(rest);
}
