import { and, asc, desc, eq, gt, inArray, ne, not, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import type { Ctx } from "../../context/ctx.ts";
import type { BoundedReads } from "../../db/bounded-reads.ts";
import type { Db } from "../../db/client.ts";
import {
  agents,
  channels,
  conversations,
  eventBacklog,
  inbox,
  isOpen,
  outbox,
  scheduledTasks,
  taskRuns,
  turns,
} from "../../db/schema.ts";
import { hasLapsed } from "../../jobs/heartbeat.ts";
import { withinReach } from "../agents/index.ts";
import { type AnalyticsNow, type Failure, mostFailures, mostRunning } from "./schema.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The current work and the recent failures of the reachable agents. Throws the 429 and the 503 of `BoundedReads`. */
export async function readNow(ctx: Ctx, reads: BoundedReads): Promise<AnalyticsNow> {
  const now = new Date(ctx.clock.now());
  const scope = { reached: withinReach(ctx), since: new Date(now.getTime() - dayMs) };
  return reads(ctx.database, async (tx) => ({
    running: await readRunning(tx, scope.reached),
    failures: await readFailures(tx, scope),
  }));
}

const counted = sql<number>`(count(*) over ())::int`;
const agent = { instanceId: agents.slug, instanceName: agents.name };

async function readRunning(tx: Db, reached: SQL | undefined): Promise<AnalyticsNow["running"]> {
  const { id, channel, status, createdAt } = turns;
  const rows = await tx
    .select({ id, ...agent, conversationId: conversations.ref, channel, status, createdAt, total: counted })
    .from(turns)
    .innerJoin(agents, eq(agents.id, turns.agentId))
    .leftJoin(conversations, eq(conversations.id, turns.conversationId))
    // Not turns of a dead process: they no longer run.
    .where(and(isOpen(turns), not(hasLapsed(turns.leaseUntil)), reached))
    .orderBy(asc(createdAt), asc(id))
    .limit(mostRunning);
  const items = rows.map(({ total: _, status, createdAt, ...turn }) => ({
    ...turn,
    status: status === "queued" ? ("queued" as const) : ("running" as const),
    createdAt: createdAt.toISOString(),
  }));
  return { items, total: rows[0]?.total ?? 0 };
}

interface Scope {
  reached: SQL | undefined;
  since: Date;
}

async function readFailures(tx: Db, scope: Scope): Promise<AnalyticsNow["failures"]> {
  const [received, sent] = messages(tx, scope);
  const all = unionAll(
    ...([failedTurns(tx, scope), failedRuns(tx, scope), received, sent] as const),
    ...([failedEvents(tx, scope), failingChannels(tx, scope)] as const),
  ).as("failures");
  const { kind, at } = all;
  const rows = await tx
    .select({
      kind,
      instanceId: all.slug,
      instanceName: all.agentName,
      conversationId: all.ref,
      name: all.thing,
      error: all.error,
      at,
      total: counted,
    })
    .from(all)
    .orderBy(desc(at), asc(kind))
    .limit(mostFailures);
  const items = rows.map(({ total: _, at, ...failure }) => ({ ...failure, at: at.toISOString() }));
  return { items, total: rows[0]?.total ?? 0 };
}

type Columns = Record<"ref" | "thing" | "error" | "at", SQLWrapper>;

/** Every kind has the same columns, so that all can be sorted together. */
const columns = (kind: Failure["kind"], { ref, thing, error, at }: Columns) => ({
  kind: sql<Failure["kind"]>`${kind}::text`.as("kind"),
  slug: sql<string>`${agents.slug}`.as("slug"),
  agentName: sql<string>`${agents.name}`.as("agent_name"),
  ref: sql<string | null>`${ref}`.as("ref"),
  thing: sql<string | null>`${thing}`.as("thing"),
  error: sql<string | null>`${error}`.as("error"),
  at: sql`${at}`.mapWith(turns.createdAt).as("at"),
});

const nothing = sql`null::text`;

/** Failed turns, except those of tasks: a run may retry its turn, so tasks are in `failedRuns`. */
function failedTurns(tx: Db, { reached, since }: Scope) {
  const { channel: thing, createdAt, errorCode, status } = turns;
  const error = sql`coalesce(${errorCode}, ${status})`;
  return tx
    .select(columns("turn", { ref: conversations.ref, thing, error, at: createdAt }))
    .from(turns)
    .innerJoin(agents, eq(agents.id, turns.agentId))
    .leftJoin(conversations, eq(conversations.id, turns.conversationId))
    .where(and(inArray(status, ["failed", "lost"]), ne(thing, "scheduled"), gt(createdAt, since), reached));
}

function failedRuns(tx: Db, { reached, since }: Scope) {
  const { conversationRef: ref, error, createdAt, status } = taskRuns;
  return tx
    .select(columns("task", { ref, thing: scheduledTasks.name, error, at: createdAt }))
    .from(taskRuns)
    .innerJoin(scheduledTasks, eq(scheduledTasks.id, taskRuns.taskId))
    .innerJoin(agents, eq(agents.id, taskRuns.agentId))
    .where(and(inArray(status, ["failed", "missed"]), gt(createdAt, since), reached));
}

/** Unanswered messages and unsent replies. */
function messages(tx: Db, { reached, since }: Scope) {
  const failed = (table: typeof inbox | typeof outbox) =>
    tx
      .select(
        columns("message", {
          ref: conversations.ref,
          thing: table.channel,
          error: table.error,
          at: table.createdAt,
        }),
      )
      .from(table)
      .innerJoin(agents, eq(agents.id, table.agentId))
      .leftJoin(conversations, eq(conversations.id, table.conversationId))
      .where(and(eq(table.status, "failed"), gt(table.createdAt, since), reached));
  return [failed(inbox), failed(outbox)] as const;
}

function failedEvents(tx: Db, { reached, since }: Scope) {
  const { error, completedAt, status } = eventBacklog;
  return tx
    .select(columns("event", { ref: nothing, thing: nothing, error, at: completedAt }))
    .from(eventBacklog)
    .innerJoin(agents, eq(agents.id, eventBacklog.agentId))
    .where(and(eq(status, "failed"), gt(completedAt, since), reached));
}

/** Channels that currently fail, without an age limit. */
function failingChannels(tx: Db, { reached }: Scope) {
  const { type, lastError, updatedAt, status, enabled } = channels;
  return tx
    .select(columns("channel", { ref: nothing, thing: type, error: lastError, at: updatedAt }))
    .from(channels)
    .innerJoin(agents, eq(agents.id, channels.agentId))
    .where(and(eq(status, "failing"), eq(enabled, true), reached));
}
