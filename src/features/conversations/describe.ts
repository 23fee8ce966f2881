import { z } from "@hono/zod-openapi";
import type { Services } from "../../context/ctx.ts";
import { randomHex } from "../../core/ids.ts";
import { jsonInAnswer } from "../../core/text/prompt-data.ts";
import { type JobKinds, mostModelJobs } from "../../jobs/attempt.ts";
import type { CallLimits, Complete } from "../../jobs/complete.ts";
import { defineJob } from "../../jobs/define.ts";
import { isRefusal } from "../../jobs/unless-refused.ts";
import {
  type Description,
  type DescriptionParts,
  descriptionPrompt,
  firstWords,
  readDescription,
} from "./description-prompt.ts";
import { descriptionStatements } from "./description-statements.ts";
import { createNote, type Findings } from "./noted.ts";
import { wantedOf } from "./rules.ts";

/** Writes a conversation's missing title and summary. */
export const descriptionJob = defineJob(
  "describeConversation",
  z.object({ conversationId: z.uuid() }),
  ({ conversationId }) => conversationId,
);

interface Dependencies {
  services: Pick<Services, "database" | "clock" | "log">;
  complete: Complete;
}

/** The jobs of this feature. */
export function conversationJobs(needs: Dependencies): JobKinds {
  const describe = createDescribe(needs);
  const note = createNote(needs.services, null);
  return descriptionJob.doneBy(
    async ({ payload: { conversationId: id } }, signal) => {
      const noted = await describe(id, { title: true, summary: true }, { signal });
      await note({ id, noted, at: "" });
    },
    { limit: mostModelJobs },
  );
}

const tries = 2;

/** Writes those of title and summary that a conversation lacks and `lookedFor` names. The caller stores the result. */
type Describe = (conversationId: string, lookedFor: DescriptionParts, limits: CallLimits) => Promise<Findings>;

export function createDescribe({ services, complete }: Dependencies): Describe {
  const { subjectOf, firstOf } = descriptionStatements(services);
  return async (conversationId, lookedFor, { signal }) => {
    if (!lookedFor.title && !lookedFor.summary) return {};
    const subject = await subjectOf(conversationId);
    if (!subject) return {};
    const lacks = wantedOf(subject);
    const wanted = { title: lookedFor.title && lacks.title, summary: lookedFor.summary && lacks.summary };
    if (!wanted.title && !wanted.summary) return {};
    const { slug, revision, newest, summary, conversationRef } = subject;
    const purpose = "describe-conversation";
    const found = subject.ask
      ? await askFor(wanted, { messages: newest, summary }, (prompt) =>
          complete({ slug, revision }, prompt, { signal, purpose, conversationRef }),
        )
      : unasked;
    signal.throwIfAborted();
    if (found === null) services.log.warn({ conversationId, agent: slug }, "The fast model gave no title or summary");
    const plain = wanted.title && !found?.title ? firstWords(await firstOf(conversationId)) || null : null;
    return {
      ...(wanted.title ? { title: found?.title ?? plain } : {}),
      summary: found?.summary ?? null,
      // If the model could not be called now, it will be called after the next turn.
      summarized: wanted.summary && found !== unasked ? subject.messages : null,
    };
  };
}

/** The description that needs no model call. */
const unasked: Description = { title: null, summary: null };

/** Asks the model. Null when neither of its two answers was a description; `unasked` when the model may not be called. */
async function askFor(
  wanted: DescriptionParts,
  conversation: Pick<Parameters<typeof descriptionPrompt>[0], "messages" | "summary">,
  ask: (prompt: string) => Promise<string>,
): Promise<Description | null> {
  const prompt = descriptionPrompt({ ...conversation, wanted, mark: randomHex(24) });
  for (let tried = 1; tried <= tries; tried += 1) {
    const found = await ask(prompt).then((answer) => readDescription(jsonInAnswer(answer), wanted), unlessRefusal);
    if (found) return found;
  }
  return null;
}

function unlessRefusal(error: unknown): Description {
  if (!isRefusal(error)) throw error;
  return unasked;
}
