import { z } from "@hono/zod-openapi";
import { and, desc, eq, ne, sql } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { randomHex } from "../../core/ids.ts";
import type { Complete } from "../../core/ports.ts";
import type { Database } from "../../db/client.ts";
import { agents, conversations, messages, turns } from "../../db/schema.ts";
import type { JobHandler, JobKinds } from "../../jobs/attempt.ts";
import { isRefusal } from "../../jobs/unless-refused.ts";
import { type Description, descriptionPrompt, firstWords, readDescription, type Wanted } from "./description-prompt.ts";
import { wantedOf } from "./rules.ts";

const description = "describeConversation";

/** The job that gives a conversation the title and the summary that it lacks, as `enqueue` takes it. */
export function descriptionOf(conversationId: string) {
  return { kind: description, key: conversationId, payload: { conversationId } };
}

interface Needs {
  services: Pick<Services, "database" | "log">;
  complete: Complete;
}

/** The jobs of this feature. */
export function conversationJobs(needs: Needs): JobKinds {
  return { [description]: { run: describeConversation(needs) } };
}

const Payload = z.object({ conversationId: z.uuid() });

const tries = 2;

function describeConversation({ services, complete }: Needs): JobHandler {
  const { database, log } = services;
  return async ({ payload }, signal) => {
    const { conversationId } = Payload.parse(payload);
    const subject = await readSubject(database, conversationId);
    if (!subject) return;
    const wanted = wantedOf(subject);
    if (!wanted.title && !wanted.summary) return;
    const found = subject.ask
      ? await askFor(wanted, await newest(database, subject), (prompt) => complete(subject.slug, prompt, signal))
      : unasked;
    signal.throwIfAborted();
    if (found === null) log.warn({ conversationId, agent: subject.slug }, "The fast model gave no title or summary");
    await writeDown(database, subject, {
      title: found?.title ?? (wanted.title ? await plainTitle(database, conversationId) : null),
      summary: found?.summary ?? null,
      // A model that may not be asked now is asked after the next turn.
      summarized: wanted.summary && found !== unasked ? subject.messages : null,
    });
  };
}

/** The description when no model is asked. */
const unasked: Description = { title: null, summary: null };

/** Null when both answers of the model were no description; `unasked` when the model may not be asked. */
async function askFor(
  wanted: Wanted,
  conversation: Pick<Parameters<typeof descriptionPrompt>[0], "messages" | "summary">,
  ask: (prompt: string) => Promise<string>,
): Promise<Description | null> {
  const prompt = descriptionPrompt({ ...conversation, wanted, mark: randomHex(24) });
  for (let tried = 1; tried <= tries; tried += 1) {
    const found = await ask(prompt).then((answer) => readDescription(answer, wanted), unlessRefusal);
    if (found) return found;
  }
  return null;
}

function unlessRefusal(error: unknown): Description {
  if (!isRefusal(error)) throw error;
  return unasked;
}

interface Subject {
  id: string;
  slug: string;
  titled: boolean;
  summary: string | null;
  messages: number;
  /** The number of messages at the last summary. */
  summarized: number;
  /** Whether the fast model is asked: there is one, a person wrote, and the demo model did not answer last. */
  ask: boolean;
}

/** Undefined when the conversation is gone. */
async function readSubject({ db }: Database, conversationId: string): Promise<Subject | undefined> {
  const { id, title, summary, messageCount, metadata, source, channel } = conversations;
  const lastProvider = db
    .select({ provider: turns.provider })
    .from(turns)
    .where(and(eq(turns.conversationId, id), eq(turns.status, "done")))
    .orderBy(desc(turns.ticket))
    .limit(1);
  const [row] = await db
    .select({
      id,
      slug: agents.slug,
      titled: sql<boolean>`${title} is not null`,
      summary,
      messages: messageCount,
      summarized: sql<number>`coalesce((${metadata} ->> 'summarizedMessages')::int, 0)`,
      ask: sql<boolean>`${agents.fastModel} is not null and ${source} = 'user' and ${channel} <> 'agent' and coalesce(${lastProvider}, '') <> 'demo'`,
    })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId))
    .where(eq(id, conversationId));
  return row;
}

/** The longest part of a message that the model reads, in characters, and the most messages. */
const [longestMessage, mostMessages] = [2_000, 30];

async function newest({ db }: Database, { id, summary }: Subject) {
  const { role, content, seq, conversationId } = messages;
  const rows = await db
    .select({ role, content: sql<string>`left(${content}, ${longestMessage})` })
    .from(messages)
    .where(and(eq(conversationId, id), ne(content, "")))
    .orderBy(desc(seq))
    .limit(mostMessages);
  return { messages: rows.toReversed(), summary };
}

/** The first words of the user's first message; null when it has none. */
async function plainTitle({ db }: Database, conversationId: string): Promise<string | null> {
  const [first] = await db
    .select({ content: sql<string>`left(${messages.content}, 1000)` })
    .from(messages)
    .where(and(eq(messages.conversationId, conversationId), eq(messages.role, "user")))
    .orderBy(messages.seq)
    .limit(1);
  return firstWords(first?.content ?? "") || null;
}

/** Stores the description. A title that a person gave meanwhile stays. */
async function writeDown(
  { db }: Database,
  { id }: Subject,
  { title, summary, summarized }: Description & { summarized: number | null },
): Promise<void> {
  const noted = sql`jsonb_strip_nulls(jsonb_build_object('summarizedMessages', ${summarized}::int))`;
  await db
    .update(conversations)
    .set({
      title: sql`coalesce(${conversations.title}, ${title})`,
      summary: sql`coalesce(${summary}, ${conversations.summary})`,
      metadata: sql`${conversations.metadata} || ${noted}`,
    })
    .where(eq(conversations.id, id));
}
