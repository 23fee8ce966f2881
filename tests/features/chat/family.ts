import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { finish, reply, type ScriptedCall, scriptedModel, toolCall } from "../../scripted-model.ts";

/** A model that makes these calls in one step, and then says that it is done. */
export const calling = (...calls: [name: string, args: object][]) =>
  scriptedModel((_, index) =>
    index > 0
      ? reply("Done.")
      : { parts: [...calls.flatMap(([name, args], at) => toolCall(`c${at}`, name, args)), finish("tool-calls")] },
  );

/** The results that the model was given last; an error as `{ error }`. */
export function toldIn(call: ScriptedCall | undefined): unknown[] {
  const results = call?.prompt.at(-1);
  if (results?.role !== "tool") throw new Error("The model was told of no call");
  return results.content.map((part) => {
    if (part.type !== "tool-result" || !("value" in part.output)) throw new Error("The model was told of no result");
    const { type, value } = part.output;
    return type.startsWith("error") ? { error: value } : value;
  });
}

/** A service on this machine that answers as the test says. */
export async function service(
  answer: (request: IncomingMessage) => { status?: number; headers?: Record<string, string>; body?: string },
) {
  const asked: { method: string; url: string; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer((request, response) => {
    asked.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers });
    const { status = 200, headers = {}, body = "{}" } = answer(request);
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { asked, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
