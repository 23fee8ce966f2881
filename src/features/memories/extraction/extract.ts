import { z } from "@hono/zod-openapi";
import type { Services } from "../../../context/ctx.ts";
import { asActing } from "../../../core/activity/activity.ts";
import { randomHex } from "../../../core/ids.ts";
import { jsonInAnswer } from "../../../core/text/prompt-data.ts";
import { batched } from "../../../db/batched.ts";
import { sqlState } from "../../../db/client.ts";
import { type JobKinds, mostModelJobs } from "../../../jobs/attempt.ts";
import type { CallLimits, Complete } from "../../../jobs/complete.ts";
import { defineJob } from "../../../jobs/define.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { isRefusal } from "../../../jobs/unless-refused.ts";
import { createNote, type DescriptionParts, type Findings, readDescription } from "../../conversations/index.ts";
import { enqueueEmbedding } from "../meaning/embed.ts";
import { recallMany } from "../recall.ts";
import { nextBatch, type Unread } from "../rules.ts";
import { type Fact, saveMemories, writtenMemory } from "../store.ts";
import { type ExtractedFact, extractionPrompt, readFacts } from "./prompt.ts";
import { type Source, unreadStatements } from "./unread.ts";

/** Learns from a conversation's messages since the last such job. */
export const extractionJob = defineJob(
  "extractMemories",
  z.object({ conversationId: z.uuid() }),
  ({ conversationId }) => conversationId,
);

interface Dependencies {
  services: Pick<Services, "database" | "clock" | "log" | "options" | "activity">;
  complete: Complete;
}

/** Jobs that learn facts from conversations, each from a part of limited size. */
export function extractionJobs(needs: Dependencies): JobKinds {
  const learn = createLearn(needs);
  const note = createNote(needs.services, null);
  return extractionJob.doneBy(
    async ({ payload: { conversationId: id } }, signal) => {
      const noted = await learn(id, { title: false }, { signal });
      await note({ id, noted, at: "" });
    },
    { limit: mostModelJobs },
  );
}

const shownMemories = 20;
const tries = 2;

/**
 * Learns from the next messages of a conversation; a job learns from the rest. Returns the results that the caller
 * stores: the last message read, and a title, if one is wanted and the model gave one (for messages of one end user
 * only). An agent that may not call a model now learns after its next turn.
 */
export type Learn = (conversationId: string, lookedFor: WantedTitle, limits: CallLimits) => Promise<Findings>;

type WantedTitle = Pick<DescriptionParts, "title">;

/**
 * Messages count as read after their facts are stored. If the process dies in between, the work is repeated, and its facts
 * are recognized as near-duplicates. Messages sent while learning is off count as read, too: they are never learned.
 */
export function createLearn({ services, complete }: Dependencies): Learn {
  const { database, log } = services;
  const statements = createStatements(services);
  const note = createNote(services, null);
  const learn: Learn = async (conversationId, lookedFor, { signal }) => {
    const source = await statements.sourceOf(conversationId);
    if (!source) return {};
    const { unread, agent } = source;
    const batch = nextBatch(unread);
    const groups = [...Map.groupBy(batch, ({ subject }) => subject).values()];
    const wanted = { title: lookedFor.title && groups.length === 1 };
    let title: string | null = null;
    for (const messages of groups) {
      title = await learnFrom({ services, complete, statements, signal, wanted }, source, messages);
    }
    const last = batch.at(-1)?.seq ?? 0;
    if (unread.length === batch.length) return { title, read: Math.max(last, source.lastSeq) };
    // Stored at once, since the job for the rest may begin before the caller stores the results.
    await note({ id: conversationId, noted: { read: last }, at: "" });
    await enqueue(database.db, extractionJob.of({ conversationId }), { organizationId: agent.organizationId });
    return { title };
  };
  return (conversationId, lookedFor, limits) =>
    learn(conversationId, lookedFor, limits).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      log.info({ conversationId, reason: error.message }, "Background work waits for the agent's next turn");
      return {};
    });
}

function createStatements(services: Pick<Services, "database" | "clock">) {
  const { database } = services;
  return {
    ...unreadStatements(services),
    recalledFor: batched(services, (asked: Parameters<typeof recallMany>[1]) => recallMany(database, asked)),
    save: batched(services, (facts: readonly Fact[]) => saveMemories(database, facts)),
  };
}

interface Learning extends Dependencies {
  statements: ReturnType<typeof createStatements>;
  signal: AbortSignal;
  wanted: WantedTitle;
}

/** Stores the facts in messages with one end user. Returns the wanted title, if the model gave one. */
async function learnFrom(
  { services, complete, statements, signal, wanted }: Learning,
  { agent, conversationId, conversationRef, ...source }: Source,
  messages: readonly Unread[],
): Promise<string | null> {
  const { database, clock, log, activity } = services;
  const [first] = messages;
  if (!first || !messages.some(({ role }) => role === "user")) return null;
  const { subject, seq } = first;
  const earlier = seq > 1 ? await statements.earlierThan({ conversationId, subject, seq }) : [];
  const said = [...earlier, ...messages.map(({ role, content }) => ({ role, content, earlier: false }))];
  const text = said.map(({ content }) => content).join("\n");
  const asked = { agentId: agent.id, subject, text, limit: shownMemories };
  const known = source.known ? await statements.recalledFor(asked) : [];
  const prompt = extractionPrompt({
    messages: said,
    known: known.map(({ content }) => content),
    ...wanted,
    now: new Date(clock.now()),
    mark: randomHex(24),
  });
  const job = { signal, purpose: "extract-memories", conversationRef };
  const { facts, title } = await askForFacts(() => complete(agent, prompt, job), wanted);
  if (facts === null) {
    log.warn({ conversationId, agent: agent.slug }, "The fast model gave no list of facts");
    return title;
  }
  signal.throwIfAborted();
  for (const [index, fact] of facts.entries()) {
    const first = index === 0 && known.length === 0;
    const saved = await statements.save({ ...fact, agent, subject, conversationId, first }).catch(unlessGone);
    if (saved) activity.emit(writtenMemory(asActing(agent), conversationRef, saved));
  }
  if (facts.length > 0) await enqueueEmbedding(services, database.db, agent);
  return title;
}

interface LearnedFacts {
  /** Null when the model failed twice to give a list of facts. */
  facts: ExtractedFact[] | null;
  title: string | null;
}

async function askForFacts(ask: () => Promise<string>, wanted: WantedTitle): Promise<LearnedFacts> {
  const learned: LearnedFacts = { facts: null, title: null };
  for (let tried = 1; tried <= tries && !learned.facts; tried += 1) {
    const answer = jsonInAnswer(await ask());
    learned.facts = readFacts(answer);
    if (wanted.title) learned.title ??= readDescription(answer, { title: true, summary: false })?.title ?? null;
  }
  return learned;
}

/** Ignores the error when the agent, with its memories, was deleted meanwhile. */
function unlessGone(error: unknown): null {
  if (sqlState(error) !== "23503") throw error;
  return null;
}
