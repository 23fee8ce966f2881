import { AgentEngineError } from "../../client/index.ts";

/** Why a command ended, in one sentence. */
export function sentenceOf(error: unknown): string {
  if (error instanceof AgentEngineError) return `${error.message} (HTTP ${error.status})`;
  return error instanceof Error ? error.message : String(error);
}

/** Awaits a result that the command needs. With `--json`, a failure is also printed as an object, for scripts. */
export async function orRefused<Result>(
  work: Promise<Result>,
  { json, say }: { json: boolean; say: (line: string) => void },
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (json) say(JSON.stringify({ ok: false, error: sentenceOf(error) }));
    throw error;
  }
}
