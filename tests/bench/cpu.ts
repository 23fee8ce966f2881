import type { Contestant } from "./contestants.ts";
import { eachRound, type Line, Lines } from "./lines.ts";
import { load } from "./load.ts";
import { type Cost, type Meter, settle } from "./meter.ts";
import { replyShapes } from "./shapes.ts";

const turns = 320;
const concurrency = 16;
/** No conversation gets its next message while it is still answered. */
const conversations = 4 * concurrency;

/** The cost of turns that are not streamed. The contestants alternate, and idle meanwhile. */
export async function measureTurns(contestants: Contestant[], meter: Meter, rounds: number): Promise<Line[]> {
  const lines = new Lines(contestants);
  await eachRound(contestants, rounds, async (contestant) => {
    const cost = await meter.cost(contestant, () =>
      load(contestant.target, "whole", { turns, concurrency, streamed: false }),
    );
    lines.add("new conversation, 100 tokens, not streamed: CPU-ms a turn", contestant, cost.server / turns);
    lines.add("– PostgreSQL's own", contestant, perTurn(cost));
  });
  let opened = 0;
  await eachRound(contestants, rounds, async (contestant) => {
    opened += conversations;
    const first = opened;
    const chatId = (index: number) => `goes-on-${first + (index % conversations)}`;
    await load(contestant.target, "next", { turns: conversations, concurrency, streamed: false, chatId });
    await settle(contestant.process.pid, contestant.settleMs);
    const cost = await meter.cost({ ...contestant, settleMs: 0 }, () =>
      load(contestant.target, "next", { turns, concurrency, streamed: false, chatId }),
    );
    lines.add("conversation goes on, 5 tokens, not streamed: CPU-ms a turn", contestant, cost.server / turns);
    lines.add("– PostgreSQL's own, going on", contestant, perTurn(cost));
  });
  return lines.all();
}

const perTurn = ({ postgres }: Cost) => (postgres === null ? null : postgres / turns);

/** The cost of streamed tokens. */
export async function measureTokens(contestants: Contestant[], meter: Meter, rounds: number): Promise<Line[]> {
  const lines = new Lines(contestants, 0);
  for (const streams of [50, 200]) {
    await eachRound(contestants, rounds, async (contestant) => {
      const { tokens, everyMs } = replyShapes.stream;
      const cost = await meter.cost(contestant, () =>
        load(contestant.target, "stream", { turns: streams, concurrency: streams, spreadMs: everyMs * 10 }),
      );
      lines.add(`${streams} streams: CPU-ms a 1000 tokens`, contestant, (cost.server * 1000) / (streams * tokens));
    });
  }
  return lines.all();
}
