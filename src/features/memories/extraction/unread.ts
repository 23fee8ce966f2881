import type { Database } from "../../../db/client.ts";
import { batchMessages, type Unread } from "../rules.ts";
import { longestMessage, type Said } from "./prompt.ts";

/** A conversation in which facts are looked for, and how far that was done. */
export interface Source {
  conversationId: string;
  agent: { id: string; organizationId: string; slug: string };
  /** Whether the agent remembers what is said in it. */
  learns: boolean;
  /** `seq` of the last message that was looked at. */
  extracted: number;
  lastSeq: number;
}

interface SourceRow {
  agent_id: string;
  organization_id: string;
  slug: string;
  learns: boolean;
  extracted: number;
  last_seq: number;
}

/** Undefined when the conversation is gone. */
export async function findSource(database: Database, conversationId: string): Promise<Source | undefined> {
  const [row] = await database.query<SourceRow>(
    `select a.id as agent_id, a.organization_id, a.slug, a.memory_enabled and c.channel <> 'agent' as learns,
       coalesce((c.metadata ->> 'extractedSeq')::int, 0) as extracted, c.last_seq
     from conversations c join agents a on a.id = c.agent_id where c.id = $1`,
    [conversationId],
  );
  if (!row) return undefined;
  const { agent_id: id, organization_id: organizationId, slug, learns, extracted, last_seq: lastSeq } = row;
  return { conversationId, agent: { id, organizationId, slug }, learns, extracted, lastSeq };
}

/** Said by people whom one knows, and answered by a model that does more than repeat. */
const learnable = "t.source = 'user' and t.subject <> '' and t.provider is distinct from 'demo'";

const unreadStatement = `
  select m.seq, m.role, left(m.content, ${longestMessage}) as content, t.subject
  from messages m join turns t on t.id = m.turn_id
  where m.conversation_id = $1 and m.seq > $2 and ${learnable} order by m.seq limit ${batchMessages + 1}`;

/** The next messages to look at, one more of them than a batch takes. */
export function readUnread(database: Database, { conversationId, extracted }: Source): Promise<Unread[]> {
  return database.query<Unread>(unreadStatement, [conversationId, extracted]);
}

/** Earlier messages that are shown, so that a "yes" can be understood; of so many before. */
const [shown, among] = [4, 100];

const earlierStatement = `
  select m.role, left(m.content, ${longestMessage}) as content, true as earlier
  from messages m join turns t on t.id = m.turn_id
  where m.conversation_id = $1 and m.seq between $2::int - ${among} and $2::int - 1 and t.subject = $3 and t.source = 'user'
  order by m.seq desc limit ${shown}`;

/** What was last said with the same end user before a message. */
export async function readEarlier(
  database: Database,
  { conversationId }: Source,
  { subject, seq }: Pick<Unread, "subject" | "seq">,
): Promise<Said[]> {
  return (await database.query<Said>(earlierStatement, [conversationId, seq, subject])).toReversed();
}

/** Nothing up to this message is looked at again. One that runs late takes nothing back. */
export async function markRead(database: Database, { conversationId }: Source, seq: number): Promise<void> {
  await database.query(
    `update conversations set metadata = metadata || jsonb_build_object('extractedSeq', $2::int)
     where id = $1 and coalesce((metadata ->> 'extractedSeq')::int, 0) < $2::int`,
    [conversationId, seq],
  );
}
