import type { Context } from "hono";
import { EngineError } from "../../../core/errors.ts";
import { parseJson } from "../../../core/json.ts";
import { holdBody, limitBody, maxBodyBytes } from "../../../http/body.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { invalid } from "../../../http/errors.ts";

/**
 * Reads a body; gives the parsed JSON and the raw text. The body of a caller who is not `proven` counts among those of
 * all strangers. Throws the 400, 413 and 415 of decisions §3, and the 503 of too many strangers' bodies.
 */
export async function readJson(
  c: Context<AppEnv>,
  { proven }: { proven: boolean },
): Promise<{ body: unknown; text: string }> {
  const type = c.req.header("Content-Type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/json" && !type.endsWith("+json")) {
    throw new EngineError("unsupported-media-type", "Content-Type must be application/json");
  }
  const held = proven ? null : holdBody(c);
  const text = await readText(c, held?.grow).finally(() => held?.end());
  let body: unknown;
  try {
    body = parseJson(text, deepestBody);
  } catch {
    throw new EngineError("bad-request", "The body is not valid JSON");
  }
  requireFewParts(body);
  return { body, text };
}

async function readText(c: Context<AppEnv>, grow?: (bytes: number) => void): Promise<string> {
  await limitBody(c, maxBodyBytes, grow);
  return c.req.text();
}

/** The deepest nesting of a body; requests of chat clients are far flatter. */
const deepestBody = 200;

/** The most parts of all messages together, counted before validation: each wrong part costs zod much time. */
const mostParts = 1000;

function requireFewParts(body: unknown): void {
  if (typeof body !== "object" || body === null || !("messages" in body) || !Array.isArray(body.messages)) return;
  let parts = 0;
  for (const message of body.messages.slice(0, 101)) {
    const content: unknown = typeof message === "object" && message !== null ? message.content : undefined;
    parts += Array.isArray(content) ? content.length : 0;
  }
  if (parts > mostParts)
    throw invalid([{ path: ["messages"], message: `must hold at most ${mostParts} parts in all` }]);
}
