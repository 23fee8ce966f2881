import { z } from "@hono/zod-openapi";
import type { Services } from "../../context.ts";
import { randomHex } from "../../core/ids.ts";
import type { Complete } from "../../core/ports.ts";
import type { Database } from "../../db/client.ts";
import type { JobHandler, JobHandlers } from "../../jobs/attempt.ts";
import { isRefusal } from "../../jobs/unless-refused.ts";
import { type Description, descriptionPrompt, firstWords, readDescription, type Wanted } from "./description-prompt.ts";
import { wantedOf } from "./rules.ts";

const description = "describeConversation";

/** What `enqueue` takes to have a conversation given the title and the summary that it lacks. */
export function descriptionOf(conversationId: string) {
  return { kind: description, key: conversationId, payload: { conversationId } };
}

interface Needs {
  services: Pick<Services, "database" | "log">;
  complete: Complete;
}

/** What this feature does in the background. */
export function conversationJobs(needs: Needs): JobHandlers {
  return { [description]: describeConversation(needs) };
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
      // Who may not be asked now sums up with the next turn.
      summarized: wanted.summary && found !== unasked ? subject.messages : null,
    });
  };
}

/** What there is without a model. */
const unasked: Description = { title: null, summary: null };

/** Null when it answered something else twice; `unasked` when it may not be asked. */
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
  /** How many messages there were when it was last summed up. */
  summarized: number;
  /** Whether the fast model is asked: a person talks to a model that does more than repeat. */
  ask: boolean;
}

/** Undefined when the conversation is gone. */
async function readSubject(database: Database, conversationId: string): Promise<Subject | undefined> {
  const [row] = await database.query<Subject>(
    `select c.id, a.slug, c.title is not null as titled, c.summary, c.message_count as messages,
       coalesce((c.metadata ->> 'summarizedMessages')::int, 0) as summarized,
       c.source = 'user' and c.channel <> 'agent' and coalesce((
         select t.provider from turns t where t.conversation_id = c.id and t.status = 'done' order by t.ticket desc limit 1
       ), '') <> 'demo' as ask
     from conversations c join agents a on a.id = c.agent_id where c.id = $1`,
    [conversationId],
  );
  return row;
}

/** In characters, and in messages. */
const [longestMessage, mostMessages] = [2_000, 30];

async function newest(database: Database, { id, summary }: Subject) {
  const messages = await database.query<{ role: "user" | "assistant"; content: string }>(
    `select role, left(content, ${longestMessage}) as content from messages
     where conversation_id = $1 and content <> '' order by seq desc limit ${mostMessages}`,
    [id],
  );
  return { messages: messages.toReversed(), summary };
}

/** What the user began with; null when that says nothing. */
async function plainTitle(database: Database, conversationId: string): Promise<string | null> {
  const [first] = await database.query<{ content: string }>(
    `select left(content, 1000) as content from messages
     where conversation_id = $1 and role = 'user' order by seq limit 1`,
    [conversationId],
  );
  return firstWords(first?.content ?? "") || null;
}

/** A title that a person gave meanwhile stays. */
async function writeDown(
  database: Database,
  { id }: Subject,
  { title, summary, summarized }: Description & { summarized: number | null },
): Promise<void> {
  await database.query(
    `update conversations set title = coalesce(title, $2), summary = coalesce($3, summary),
       metadata = metadata || jsonb_strip_nulls(jsonb_build_object('summarizedMessages', $4::int))
     where id = $1`,
    [id, title, summary, summarized],
  );
}
