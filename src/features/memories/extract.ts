import { z } from "@hono/zod-openapi";
import type { Services } from "../../context.ts";
import { randomHex } from "../../core/ids.ts";
import { type Database, sqlState } from "../../db/client.ts";
import type { JobHandler, JobHandlers } from "../../jobs/attempt.ts";
import { type ExtractedFact, extractionPrompt, readFacts, type Said } from "./extraction-prompt.ts";
import { recall } from "./recall.ts";
import { saveMemory } from "./store.ts";

/**
 * What the fast model of an agent answers to a prompt. Rejects when it could not be asked; the message of that error
 * is stored and logged, so that it must hold no secret.
 */
export type Complete = (agentSlug: string, prompt: string, signal: AbortSignal) => Promise<string>;

/** The kind of job that looks for facts in a turn. */
export const extraction = "extractMemories";

/** What `enqueue` takes to have facts looked for in a turn; once is enough, however often it is asked for. */
export function extractionOf(turnId: string) {
  return { kind: extraction, key: turnId, payload: { turnId } };
}

interface Needs {
  services: Pick<Services, "database" | "clock" | "log">;
  complete: Complete;
}

/** What this feature does in the background. */
export function memoryJobs(needs: Needs): JobHandlers {
  return { [extraction]: extractMemories(needs) };
}

const Payload = z.object({ turnId: z.uuid() });

/** Earlier messages that are shown, so that a "yes" can be understood. */
const context = 4;
const shownMemories = 20;
const tries = 2;

function extractMemories({ services, complete }: Needs): JobHandler {
  const { database, clock, log } = services;
  return async ({ payload }, signal) => {
    const { turnId } = Payload.parse(payload);
    const turn = await readTurn(database, turnId);
    if (!turn) return;
    const messages = await readMessages(database, turnId, turn.conversation_id);
    if (!messages.some(({ role, earlier }) => role === "user" && !earlier)) return;
    const agent = { id: turn.agent_id, organizationId: turn.organization_id };
    const text = messages.map(({ content }) => content).join("\n");
    const about = { agentId: agent.id, subject: turn.subject };
    const known = await recall(database, { ...about, text, limit: shownMemories });
    const prompt = extractionPrompt({
      messages,
      known: known.map(({ content }) => content),
      now: new Date(clock.now()),
      mark: randomHex(24),
    });
    const facts = await askForFacts(() => complete(turn.slug, prompt, signal));
    if (facts === null) return log.warn({ turnId, agent: turn.slug }, "The fast model gave no list of facts");
    signal.throwIfAborted();
    for (const fact of facts) {
      await saveMemory(database, { ...fact, agent, subject: turn.subject, conversationId: turn.conversation_id }).catch(
        unlessGone,
      );
    }
  };
}

/** Null when it answered something else twice. */
async function askForFacts(ask: () => Promise<string>): Promise<ExtractedFact[] | null> {
  for (let tried = 1; tried <= tries; tried += 1) {
    const facts = readFacts(await ask());
    if (facts) return facts;
  }
  return null;
}

/** An agent that was deleted meanwhile took its memories along. */
function unlessGone(error: unknown): void {
  if (sqlState(error) !== "23503") throw error;
}

interface TurnRow {
  conversation_id: string;
  subject: string;
  agent_id: string;
  organization_id: string;
  slug: string;
}

/** A turn with a person, of an agent that remembers; undefined when there is nothing to remember of it. */
async function readTurn(database: Database, turnId: string): Promise<TurnRow | undefined> {
  const [row] = await database.query<TurnRow>(
    `select t.conversation_id, t.subject, a.id as agent_id, a.organization_id, a.slug
     from turns t join agents a on a.id = t.agent_id join conversations c on c.id = t.conversation_id
     where t.id = $1 and t.source = 'user' and t.subject <> '' and c.channel <> 'agent' and a.memory_enabled`,
    [turnId],
  );
  return row;
}

function readMessages(database: Database, turnId: string, conversationId: string): Promise<Said[]> {
  return database.query<Said>(
    `select m.role, m.content, m.seq < t.first as earlier
     from messages m, (select min(seq) as first, max(seq) as last from messages where conversation_id = $2 and turn_id = $1) t
     where m.conversation_id = $2 and m.seq between t.first - ${context} and t.last order by m.seq`,
    [turnId, conversationId],
  );
}
