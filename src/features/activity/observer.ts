import { ownerOf } from "../../core/activity/activity.ts";
import type { ActivityBus } from "../../core/activity/bus.ts";
import { longestPreview, previewOf, previewOfText, scrubbedPreview } from "../../core/activity/preview.ts";
import { type Channel, channels } from "../../core/channels/channels.ts";
import { labelOf } from "../../core/models/fallbacks.ts";
import { type ActivityDetails, awaitedCall, blockedCall, failedHook } from "../../turn/activity.ts";
import type { StartedTurn, StoredRows, TurnEnding, TurnListener, TurnObserver } from "../../turn/observers.ts";
import type { AbortReason, TurnEvent } from "../../turn/types.ts";

type Event<Type extends TurnEvent["type"]> = Extract<TurnEvent, { type: Type }>;

/** Reports the activity of turns to the bus. */
export function turnActivity(bus: ActivityBus): TurnObserver {
  return {
    started(turn) {
      const activity = new TurnActivity(bus, turn);
      activity.begin();
      return activity;
    },
  };
}

class TurnActivity implements TurnListener {
  readonly #bus: ActivityBus;
  readonly #turn: StartedTurn;
  /** The tools of calls whose end was not reported yet, by call id. */
  readonly #calls = new Map<string, string>();
  /** The first part of the running step's reasoning. */
  #reasoning = "";

  constructor(bus: ActivityBus, turn: StartedTurn) {
    this.#bus = bus;
    this.#turn = turn;
  }

  begin(): void {
    const { begins, continues, fresh, scrub, origin } = this.#turn;
    const { channel } = origin;
    if (begins) {
      this.#tell({ kind: "conversation", text: "A conversation began", channel, conversation: { event: "started" } });
    }
    if (continues !== null || !isSpoken(this.#turn)) return;
    for (const text of fresh) this.#tell({ kind: "inbound", text: scrubbedPreview(text, scrub), channel });
  }

  event(event: TurnEvent): void {
    switch (event.type) {
      case "reasoning-delta":
        if (this.#reasoning.length <= longestPreview) this.#reasoning += event.text;
        return;
      case "step-start":
        this.#reasoning = "";
        return;
      case "model-fallback":
        this.#fallback(event);
        return;
      case "step-finish":
        if (this.#reasoning !== "") {
          const responsePreview = previewOfText(this.#reasoning);
          this.#tell({ kind: "thinking", text: "The agent thought", responsePreview });
        }
        this.#reasoning = "";
        return;
      case "tool-call":
        this.#call(event);
        return;
      case "tool-result":
        this.#result(event);
        return;
      case "approval-request":
        this.#end(event.id, { text: `A call of ${event.name} waits for a person`, status: "blocked" });
        this.#tell(awaitedCall(event.name));
        return;
      case "handoff":
        this.#handoff(event);
        return;
      case "hook-execution":
        if (!event.execution.success) this.#tell(failedHook(event.execution));
        return;
    }
  }

  ended(ending: TurnEnding): void {
    // The model requested these calls, but they were not made: the turn was stopped, or had no step left.
    for (const [id, tool] of this.#calls) {
      this.#end(id, { text: `The call of ${tool} was not made`, status: "failed" });
    }
    if ("stored" in ending) this.#stored(ending.stored);
    for (const happening of ended(ending, this.#turn.origin.channel, isSpoken(this.#turn))) this.#tell(happening);
  }

  #call({ id, name, args }: Event<"tool-call">): void {
    this.#calls.set(id, name);
    const text = `The agent calls ${name}`;
    const argsPreview = previewOf(args);
    this.#tell({ id: this.#idOf(id, "start"), kind: "tool-start", text, tool: name, status: "running", argsPreview });
  }

  #result({ id, name, ok, durationMs, result, withheld }: Event<"tool-result">): void {
    const [status, did] = ok
      ? (["ok", "answered"] as const)
      : withheld
        ? (["blocked", "was not called"] as const)
        : (["failed", "failed"] as const);
    this.#end(id, { text: `${name} ${did}`, status, durationMs, resultPreview: previewOf(result) });
    // Other withheld calls were reported when a person decided.
    if (withheld === "undecidable") this.#tell(blockedCall(name, withheld));
  }

  #end(id: string, how: Omit<ActivityDetails, "kind">): void {
    const tool = this.#calls.get(id);
    if (tool === undefined) return;
    this.#calls.delete(id);
    // A call that was not made took no time, and has only this text as its result.
    const unmade = { durationMs: 0, resultPreview: how.text };
    this.#tell({ id: this.#idOf(id, "end"), kind: "tool-end", tool, ...unmade, ...how });
  }

  #fallback({ from, to, failure }: Event<"model-fallback">): void {
    const problem = failure === null ? "rests after failures" : `did not answer (${failure.message})`;
    const text = previewOfText(`${labelOf(from)} ${problem}: ${labelOf(to)} is called`);
    const { channel } = this.#turn.origin;
    this.#tell({ kind: "conversation", text, channel, conversation: { event: "fallback" } });
  }

  #handoff(event: Event<"handoff">): void {
    const { phase, agent } = event;
    const id = `handoff:${this.#idOf(event.id, phase)}`;
    const about = { id, kind: "agent-handoff", handoff: { agent, phase } } as const;
    if (event.phase === "start") {
      this.#tell({ ...about, text: `The agent asks ${agent}`, status: "running" });
    } else {
      const { ok, durationMs } = event;
      const text = ok ? `${agent} answered` : `${agent} did not answer`;
      this.#tell({ ...about, text, status: ok ? "ok" : "failed", durationMs });
    }
  }

  #stored({ messageIds, hookExecutionIds }: StoredRows): void {
    const row = { agent: ownerOf(this.#turn.agent), conversationId: this.#turn.conversationRef };
    for (const messageId of messageIds) this.#bus.persisted({ ...row, messageId });
    for (const hookExecutionId of hookExecutionIds) this.#bus.persisted({ ...row, hookExecutionId });
  }

  #idOf(callId: string, phase: "start" | "end"): string {
    return `${this.#turn.id}:${callId}:${phase}`;
  }

  #tell(happening: ActivityDetails): void {
    const { agent, conversationRef } = this.#turn;
    this.#bus.emit({ ...happening, agent, conversationId: conversationRef });
  }
}

/**
 * Whether a person talks to the agent and gets the reply at the turn's end. A messenger's messages and replies are
 * reported when they arrive and when they are sent.
 */
function isSpoken({ origin: { source, channel } }: StartedTurn): boolean {
  return source === "user" && !channels[channel].sendsLater;
}

/** The activity at a turn's end. `spoken`: the reply is sent at that moment. */
function ended(ending: TurnEnding, channel: Channel, spoken: boolean): ActivityDetails[] {
  if ("unrecorded" in ending) return [failed(channel, ending.unrecorded.message)];
  const { outcome } = ending;
  if (outcome.status === "failed") return [failed(channel, outcome.failure.message)];
  if (outcome.status === "aborted") return [{ kind: "conversation", channel, ...abortions[outcome.reason] }];
  const { status, text, steps, durationMs } = outcome;
  const said: ActivityDetails[] = [];
  const last = steps.at(-1)?.text ?? "";
  if (status === "done" && last !== "") {
    said.push({ kind: "reply", text: "The agent replied", responsePreview: previewOfText(last), durationMs });
  }
  if (spoken && text !== "") {
    const responsePreview = previewOfText(text);
    said.push({ kind: "outbound", text: `A reply was sent on ${channel}`, status: "ok", channel, responsePreview });
  }
  if (status === "approval") {
    const waiting = outcome.pending.map(({ toolName }) => toolName).join(", ");
    const asked = previewOfText(`The conversation waits for a decision about ${waiting}`);
    said.push({ kind: "conversation", text: asked, channel, conversation: { event: "approval" } });
  }
  return said;
}

const failed = (channel: Channel, why: string): ActivityDetails => ({
  kind: "conversation",
  text: previewOfText(`A turn failed: ${why}`),
  status: "failed",
  channel,
  conversation: { event: "failed" },
});

const abortions: Readonly<Record<AbortReason, Pick<ActivityDetails, "text" | "conversation">>> = {
  stop: { text: "The turn was stopped", conversation: { event: "stopped" } },
  disconnect: { text: "The client left before the reply began", conversation: { event: "stopped" } },
  superseded: { text: "A newer message took the place of the turn", conversation: { event: "superseded" } },
  shutdown: { text: "The turn ended with its server", conversation: { event: "interrupted" } },
  "lease-lost": { text: "The server of the turn was out of touch", conversation: { event: "interrupted" } },
};
