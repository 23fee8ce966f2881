import { setTimeout as sleep } from "node:timers/promises";
import type { Contestant } from "./contestants.ts";
import { eachRound, type Line, Lines } from "./lines.ts";
import { load } from "./load.ts";
import type { Meter } from "./meter.ts";
import { replyShapes } from "./shapes.ts";

const streams = 200;

/** The share of the model's output that has reached the clients when the model has sent all, in percent. */
export async function measureDelivery(contestants: Contestant[], meter: Meter, rounds: number): Promise<Line[]> {
  const { tokens, everyMs } = replyShapes.fast;
  const lines = new Lines(contestants, 0);
  await eachRound(contestants, rounds, async (contestant) => {
    await meter.cost(contestant, async () => {
      let delivered = 0;
      const whole = load(contestant.target, "fast", {
        turns: streams,
        concurrency: streams,
        onTokens: (count) => {
          delivered += count;
        },
      });
      await Promise.race([sleep(tokens * everyMs), whole]);
      const share = (delivered * 100) / (streams * tokens);
      lines.add(`${streams} streams of ${1000 / everyMs} tokens a second: % delivered in time`, contestant, share);
      await whole;
    });
  });
  return lines.all();
}
