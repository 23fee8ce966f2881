import { Agent, request } from "node:http";
import { onTestFinished } from "vitest";
import { connected } from "./call.ts";

export interface RawRequest {
  method: string;
  /** Sent unchanged, without the normalization of a URL. */
  path: string;
  /** Name and value by turns: names may repeat. */
  headers?: readonly string[];
  json?: unknown;
}

/** Sends requests over a socket just as they are written, and answers their status. */
export function rawClient(address: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  onTestFinished(() => agent.destroy());
  const { hostname, port, host } = new URL(address);
  return ({ method, path, headers = [], json }: RawRequest): Promise<number> =>
    new Promise((resolve, reject) => {
      const body = json === undefined ? "" : JSON.stringify(json);
      const type = json === undefined ? [] : ["Content-Type", "application/json"];
      const all = ["Host", host, "Content-Length", String(Buffer.byteLength(body)), ...type, ...headers];
      const sent = request({ agent, hostname, port, method, path, headers: all }, (response) => {
        response.on("data", (chunk: Buffer) => {
          if (chunk.toString().startsWith(connected)) response.destroy();
        });
        response.on("close", () => resolve(response.statusCode ?? 0));
      });
      sent.on("error", reject).end(body);
    });
}
