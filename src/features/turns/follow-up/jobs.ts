import { z } from "@hono/zod-openapi";
import type { Services } from "../../../context/ctx.ts";
import { Semaphore } from "../../../core/limits/semaphore.ts";
import type { JobHandler, JobKinds } from "../../../jobs/attempt.ts";
import { backoffMs } from "../../../jobs/backoff.ts";
import type { CallLimits, Complete } from "../../../jobs/complete.ts";
import { defineJob, type JobDefinition } from "../../../jobs/define.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { createDescribe, descriptionJob, type Findings, wantedOf } from "../../conversations/index.ts";
import { createLearn, extractionJob } from "../../memories/index.ts";
import { type FollowUpKind, followUpKinds } from "./due.ts";
import { type DueConversation, dueStatements, firstPlace, pageSize } from "./due-statements.ts";

interface Dependencies {
  services: Pick<Services, "database" | "clock" | "log" | "options" | "activity">;
  complete: Complete;
}

/** One part of a follow-up. */
interface Part {
  /** Performs the part; `known` are the earlier parts' results. */
  perform(conversation: DueConversation, known: Findings, limits: CallLimits): Promise<Findings>;
  /** The job for a single conversation, used after a failure in a job for many. */
  job: JobDefinition<{ conversationId: string }>;
}

/**
 * The most follow-ups at a time in this process, which bounds the memory of their prompts, and of one organization. The
 * model's own limit decides how many of them call it at a time.
 */
const [mostAtOnce, mostOfOne] = [256, 128];

/** The most agents with follow-ups at a time. */
const mostAgents = 64;

/** How many pages of conversations a job may start before the first page is done. */
const mostPages = 3;

/**
 * After this time, in milliseconds, a job takes no new conversations, so that other jobs can run and the server can stop.
 */
const longestMs = 5_000;

/** Conversations that become due within this time share a job, in milliseconds. */
const gatherMs = 1_000;

/** The longest postponement of a job, in milliseconds: the agent may get another model meanwhile. */
const longestPostponedMs = 60_000;

/** The state that the jobs of this process share. */
interface Shared extends Pick<Dependencies, "services"> {
  slots: Semaphore;
}

/** The jobs that follow turns: soon after a conversation's first turn, and some time after later ones. */
export function followUpJobs(needs: Dependencies): JobKinds {
  const [describe, learn] = [createDescribe(needs), createLearn(needs)];
  const shared = { services: needs.services, slots: new Semaphore({ most: mostAtOnce, mostOfOne }) };
  const lookedFor = (conversation: DueConversation) => wantedOf({ ...conversation, ask: true });
  const parts: Part[] = [
    {
      perform(conversation, _known, limits) {
        const { title, summary } = lookedFor(conversation);
        // With a summary, the call for the summary writes the title as well.
        return learn(conversation.id, { title: title && !summary }, limits);
      },
      job: extractionJob,
    },
    {
      perform(conversation, known, limits) {
        const { title, summary } = lookedFor(conversation);
        return describe(conversation.id, { title: title && !known.title, summary }, limits);
      },
      job: descriptionJob,
    },
  ];
  const kinds = Object.keys(followUpKinds) as FollowUpKind[];
  return Object.assign({}, ...kinds.map((kind) => followUp(shared, kind, parts)));
}

const Payload = z.object({ agentId: z.uuid() });

/** Enqueues the job for the rest of a follow-up. RECORD and the scheduler enqueue all other jobs in SQL. */
const followUpJob = (kind: FollowUpKind) => defineJob(kind, Payload, ({ agentId }) => agentId);

/**
 * Follows up an agent's due conversations. A conversation stays due until its results are stored, so the work is
 * repeated when the process dies. A failed part gets a job of its own.
 */
function followUp({ services, slots }: Shared, kind: FollowUpKind, parts: readonly Part[]): JobKinds {
  const { database, clock, log } = services;
  const { next, settle, first } = dueStatements(services, kind);
  const job = followUpJob(kind);

  const performPart = async (
    part: Part,
    conversation: DueConversation,
    known: Findings,
    limits: CallLimits,
  ): Promise<Findings> => {
    try {
      return await part.perform(conversation, known, limits);
    } catch (err) {
      if (err instanceof Postponed || limits.signal.aborted) throw err;
      const { id, organizationId } = conversation;
      const { kind } = part.job;
      const runAt = new Date(clock.now() + backoffMs(1, Math.random()));
      await enqueue(database.db, part.job.of({ conversationId: id }, runAt), { organizationId });
      log.warn(
        { kind, conversationId: id, again: runAt.toISOString(), err },
        "Background work failed and will be tried again",
      );
      return {};
    }
  };

  const follow = async (conversation: DueConversation, limits: CallLimits) => {
    const { id, at } = conversation;
    const noted: Findings = {};
    try {
      // When a part has to wait, the later ones wait too, since they may need its result.
      for (const part of parts) Object.assign(noted, await performPart(part, conversation, noted, limits));
    } catch (error) {
      // Stores the results so far; the conversation stays due for the remaining parts.
      const keeps = !limits.signal.aborted && Object.keys(noted).length > 0;
      if (keeps) await settle({ id, noted, at: "" });
      throw error;
    }
    await settle({ id, noted, at });
  };

  const run: JobHandler<{ agentId: string }> = async ({ payload: { agentId } }, signal) => {
    const limits = { signal };
    const until = clock.now() + longestMs;
    const started: Promise<unknown>[] = [];
    let problem: Error | null = null;
    const start = (due: DueConversation) =>
      slots
        .run(due.organizationId, signal, () => follow(due, limits))
        .catch((error: Error) => {
          problem ??= error;
        });
    let more = true;
    for (let place = firstPlace; more && !problem && clock.now() < until; ) {
      const page = await next(agentId, clock.now(), place);
      started.push(Promise.all(page.map(start)));
      if (started.length >= mostPages) await started.shift();
      signal.throwIfAborted();
      place = page.at(-1) ?? place;
      more = page.length === pageSize;
    }
    await Promise.all(started);
    signal.throwIfAborted();
    if (problem) throw bounded(problem, clock.now());
    const left = await first(agentId);
    if (left === null) return;
    const { at, organizationId } = left;
    const now = clock.now();
    const runAt = new Date(more ? now : Math.max(at, now + gatherMs));
    await enqueue(database.db, job.of({ agentId }, runAt), { organizationId });
  };
  return job.doneBy(run, { limit: mostAgents });
}

function bounded(problem: Error, now: number): Error {
  if (!(problem instanceof Postponed)) return problem;
  return new Postponed(problem.message, Math.min(problem.until, now + longestPostponedMs));
}
