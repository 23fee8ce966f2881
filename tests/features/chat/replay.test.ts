import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Replay } from "../../../src/features/chat/replay/replay.ts";
import type { StartedTurn } from "../../../src/turn/observers.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("the replay of an ended turn keeps the turn's events, and neither the turn nor its prompt", async () => {
  const made = () => {
    const turn = {
      id: "t",
      door: "native",
      fresh: ["a long prompt"],
      leave: () => void turn.fresh,
    } as unknown as StartedTurn;
    return { turn: new WeakRef(turn), replay: new Replay(turn) };
  };
  const { turn, replay } = made();
  replay.add("text-delta", { text: "Hello" });
  replay.end(0);
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(turn.deref()).toBeUndefined();
  expect([replay.turnId, replay.behind(0)]).toEqual(["t", [expect.stringContaining("Hello")]]);
});
