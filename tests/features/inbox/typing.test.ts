import { expect, test } from "vitest";
import { createMessengers } from "../../../src/adapters/messengers/index.ts";
import type { MessengerAccount, Messengers } from "../../../src/core/channels/messengers.ts";
import { TestClock } from "../../clock.ts";
import { finish, gate, reply, text } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { answering, doing } from "./answering.ts";

/** Messengers that record sent messages; `typing` may fail. */
function noting(typing: () => Promise<void> = async () => {}) {
  const typed: string[] = [];
  const real = createMessengers({ clock: new TestClock() });
  const messengers: Messengers = {
    account(...of): MessengerAccount {
      return {
        ...real.account(...of),
        typingMs: 4_500,
        send: async () => "1",
        async typing(channelId) {
          typed.push(channelId);
          await typing();
        },
      };
    },
  };
  return { typed, messengers };
}

async function held(typing?: () => Promise<void>, agent: Record<string, unknown> = {}) {
  const { typed, messengers } = noting(typing);
  const end = gate();
  const steps = doing({ parts: [end.promise, ...text("Done."), finish()] }, reply("Again."));
  const h = await answering(steps, { messengers, agent });
  await h.say("Hello");
  await h.settle();
  await h.model.called(1);
  // The delay begins beside the model's call.
  await eventually(async () => h.clock.waiting(Number(agent.typingDelayMs ?? 1_500)));
  return { ...h, typed, end };
}

test("the agent is shown typing after the delay, again before that fades, and not after the turn", async () => {
  const h = await held();
  await h.clock.advance(1_499);
  expect(h.typed).toEqual([]);
  await h.clock.advance(1);
  expect(h.typed).toEqual(["42"]);
  await h.clock.advance(9_000);
  expect(h.typed).toHaveLength(3);
  h.end.open();
  await h.idle();
  await h.clock.advance(60_000);
  expect(h.typed).toHaveLength(3);
});

test("an agent's own delay counts, and a turn that is done before shows nothing", async () => {
  const h = await held(undefined, { typingDelayMs: 5_000 });
  await h.clock.advance(4_999);
  h.end.open();
  await h.idle();
  await h.clock.advance(60_000);
  expect(h.typed).toEqual([]);
});

test("a notice that fails changes nothing", async () => {
  const h = await held(async () => Promise.reject(new Error("Telegram is away")));
  await h.clock.advance(7_000);
  expect(h.typed).toHaveLength(2);
  h.end.open();
  await h.idle();
  expect(await h.sent()).toEqual(["Done."]);
});

test("a turn that is superseded types no more", async () => {
  const h = await held();
  await h.clock.advance(1_500);
  await h.say("Wait");
  await eventually(async () => (await h.turns())[0]?.[1] === "superseded");
  await h.clock.jump(30_000);
  await h.engine.tick();
  await h.idle();
  expect(await h.sent()).toEqual(["Again."]);
  expect(h.typed).toEqual(["42"]);
});

test("a turn that fails types no more", async () => {
  const { typed, messengers } = noting();
  const end = gate();
  const h = await answering(
    doing({ parts: [...text("Half"), end.promise, new TypeError("terminated")] }, reply("Again.")),
    {
      messengers,
    },
  );
  await h.say("Hello");
  await h.settle();
  await h.model.called(1);
  await h.clock.advance(1_500);
  end.open();
  await eventually(async () => (await h.turns())[0]?.[0] === "failed");
  await h.rested();
  await h.clock.jump(30_000);
  await h.engine.tick();
  await h.idle();
  expect(await h.sent()).toEqual(["Again."]);
  expect(typed).toEqual(["42"]);
});
