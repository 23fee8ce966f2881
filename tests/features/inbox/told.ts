import { asc, eq } from "drizzle-orm";
import { newId } from "../../../src/core/ids.ts";
import { conversations, jobs, messages } from "../../../src/db/schema.ts";
import type { AlongsideOf } from "../../../src/features/turns/index.ts";
import { takeOwnTurn } from "../../turns.ts";
import { eventually } from "../chat/chat.ts";
import { adaTarget, messaging } from "./sending.ts";

export const ref = `support:telegram:${adaTarget}`;
export const roomRef = "room:support:1767225600000";

/** An agent whose Room takes turns of its own. */
export async function withRoom(options: Parameters<typeof messaging>[0] = {}) {
  const h = await messaging(options);
  /** A turn of the Room; `alongside` sends messages. */
  const work = async (text: string, alongside?: AlongsideOf) => {
    const turn = await takeOwnTurn(h.turns, "support", {
      door: "room",
      ref: roomRef,
      stored: true,
      rule: "always-finish",
      requestId: newId(),
      throttle: null,
      origin: {
        channel: "room",
        channelId: "1767225600000",
        source: "room",
        depth: 0,
        subject: `conversation:${roomRef}`,
      },
      input: { history: [], fresh: [text] },
      ...(alongside ? { alongside } : {}),
    });
    await turn.ended;
    return turn.id;
  };
  const isEchoed = () =>
    eventually(async () => {
      await h.engine.tick();
      return (await h.db.select().from(jobs)).every(({ kind }) => !kind.startsWith("outbox."));
    });
  const conversation = async (of = ref) => {
    const [row] = await h.db.select().from(conversations).where(eq(conversations.ref, of));
    return row;
  };
  const transcript = async (of = ref) => {
    const row = await conversation(of);
    return row
      ? h.db.select().from(messages).where(eq(messages.conversationId, row.id)).orderBy(asc(messages.seq))
      : [];
  };
  const said = async (of = ref) => (await transcript(of)).map(({ seq, role, content }) => [seq, role, content]);
  /** The messages of the last prompt, without the system prompt. */
  const prompt = () =>
    (h.model.calls.at(-1)?.prompt ?? []).flatMap(({ role, content }) =>
      typeof content === "string" ? [] : [[role, content.map((part) => ("text" in part ? part.text : "")).join("")]],
    );
  return { ...h, work, isEchoed, conversation, transcript, said, prompt };
}
