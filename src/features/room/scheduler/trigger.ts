import { and, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import { messengerNames } from "../../../core/channels/messengers.ts";
import { newId } from "../../../core/ids.ts";
import { assign, insertInto } from "../../../db/fragments.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { eventBacklog, eventDefinitions, jobs, rooms } from "../../../db/schema.ts";
import { statement, type Values } from "../../../db/statement.ts";
import { replaceWaiting } from "../../../jobs/enqueue.ts";
import type { StartedTurn, TurnEnding, TurnObserver } from "../../../turn/observers.ts";
import type { TurnOutcome } from "../../../turn/types.ts";
import { idsOfPlace } from "../../inbox/index.ts";
import { patienceMs } from "./fates.ts";
import { evaluateJob } from "./job.ts";
import { isAtPlace } from "./replies.ts";

interface Dependencies {
  services: Pick<Services, "database" | "clock" | "log">;
  /** Tells the worker that a job is due. */
  wake(): void;
}

/**
 * Makes waiting entries due: when a person wrote to the agent at their destination (spec "States and transitions"), and
 * when a Room's turn continued after an approval. It observes turns, so no turn waits for it.
 */
export function repliesTrigger({ services, wake }: Dependencies): TurnObserver {
  const { database, clock, log } = services;
  const wakeBy = async (run: () => Promise<readonly unknown[]>) => {
    if ((await unlessDeadlocked(run)).length > 0) wake();
  };
  const take = async (turn: StartedTurn, { status }: TurnOutcome) => {
    const { agent, origin, continues } = turn;
    if (continues !== null && status === "approval") return waitOn(services, agent.id, continues, turn.id);
    const about = () => ({ agentId: agent.id, now: new Date(clock.now()), jobId: newId() });
    const { channel, channelId, subject } = origin;
    if (channel === "room") {
      return wakeBy(() => decidedStatement.run(database, { ...about(), turnId: continues ?? "" }));
    }
    for (const id of await idsOfPlace(database.db, { agentId: agent.id, channel }, channelId)) {
      await wakeBy(() => repliedStatement.run(database, { ...about(), channel, channelId: id, subject }));
    }
  };
  return {
    started(turn) {
      if (!turn.stored || !mayWake(turn)) return null;
      return {
        ended(ending) {
          if (!isStored(ending)) return;
          take(turn, ending.outcome).catch((err: unknown) => {
            log.warn(
              { agent: turn.agent.slug, err },
              "A Room could not be told of a person's word: its tick finds it later",
            );
          });
        },
      };
    },
  };
}

function mayWake({ origin: { channel }, continues }: StartedTurn): boolean {
  return channel === "room" ? continues !== null : messengerNames.some((name) => name === channel);
}

/** Whether the turn's messages are stored. */
function isStored(ending: TurnEnding): ending is Extract<TurnEnding, { outcome: TurnOutcome }> {
  return "outcome" in ending && !(ending.outcome.status === "aborted" && ending.outcome.reason === "superseded");
}

/** A continued turn stopped for another approval: its entries wait for that approval. */
async function waitOn({ database, clock }: Dependencies["services"], agentId: string, before: string, turnId: string) {
  const own = and(
    eq(eventBacklog.agentId, agentId),
    eq(eventBacklog.claim, before),
    eq(eventBacklog.status, "pending"),
  );
  const notBefore = new Date(clock.now() + patienceMs);
  await database.db.update(eventBacklog).set({ claim: turnId, notBefore }).where(own);
}

const types = { agentId: "uuid", now: "timestamptz", jobId: "uuid" } as const;

const room = alias(rooms, "room");
const entry = alias(eventBacklog, "entry");
const definition = alias(eventDefinitions, "definition");
const isOpen = sql`${entry.status} in ('pending', 'processing')`;

/** A person wrote at a destination: makes its waiting and its ready entries due. */
const repliedStatement = statement(
  { ...types, channel: "text", channelId: "text", subject: "text" },
  ({ channel, channelId, subject, ...values }) => {
    const of = { channel, channelId, subject };
    const own = { channel: definition.outboundChannel, target: definition.outboundTarget };
    const common = { channel: room.outboundChannel, target: room.outboundTarget };
    return wakeEntries(
      values,
      sql`
    select ${entry.id} from ${room}
    join ${eventBacklog} ${entry} on ${entry.agentId} = ${room.agentId} and ${isOpen}
    left join ${eventDefinitions} ${definition} on ${definition.id} = ${entry.definitionId}
    where case when ${own.channel} is null then ${isAtPlace(of, common)} else ${isAtPlace(of, own)} end`,
    );
  },
);

/** A turn continued after an approval: makes its waiting entries due. */
const decidedStatement = statement({ ...types, turnId: "uuid" }, ({ turnId, ...values }) =>
  wakeEntries(
    values,
    sql`
    select ${entry.id} from ${room} join ${eventBacklog} ${entry} on ${entry.agentId} = ${room.agentId} and ${isOpen}
    where ${entry.claim} = ${turnId} and ${entry.status} = 'pending'`,
  ),
);

/** Locks the Room's row only if there is an open entry. */
function wakeEntries({ agentId, now, jobId }: Values<typeof types>, found: ReturnType<typeof sql>) {
  const own = sql`${rooms.agentId} = ${agentId}`;
  const open = sql`select from ${eventBacklog} ${entry} where ${entry.agentId} = ${agentId} and ${isOpen}`;
  const job = {
    id: jobId,
    kind: evaluateJob.kind,
    key: sql`${room.agentId}::text`,
    organizationId: room.organizationId,
    payload: sql`jsonb_build_object('agentId', ${room.agentId})`,
    runAt: sql`'-infinity'`,
  };
  return sql<{ id: string }>`
    with ${room} as (
      select * from ${rooms} where ${own} and ${rooms.enabled} and exists (${open}) for update
    ), found as (${found}
    ), woken as (
      update ${eventBacklog} set ${assign(eventBacklog, { notBefore: now })}
      where ${eventBacklog.id} in (select id from found) and ${eventBacklog.notBefore} > ${now}
    ), due as (
      update ${rooms} set ${assign(rooms, { dueAt: now })} where ${own} and exists (select from found)
    )
    ${insertInto(jobs, job)} from ${room} where exists (select from found) ${replaceWaiting} returning ${jobs.id}`;
}
