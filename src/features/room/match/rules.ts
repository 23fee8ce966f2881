import type { JsonValue } from "../../../core/json.ts";
import { clip } from "../../../core/text/text.ts";
import { type EventCondition, unmetCondition } from "../events/conditions.ts";
import { readVerdict } from "../events/matching-prompt.ts";
import type { EventDefinition } from "../sources/find.ts";
import type { Verdict } from "./schema.ts";

/** An event while its definitions are checked. */
export interface MatchState {
  payload: JsonValue;
  /** In the order in which the model was asked. */
  verdicts: readonly Verdict[];
  /** Whether the agent's Room accepts entries. */
  roomOn: boolean;
}

export type Step<Definition> =
  /** Asks the model whether the definition describes the event. */
  | { kind: "ask"; definition: Definition }
  /** Skips the definition without asking, since the payload does not meet this condition. */
  | { kind: "pass"; definition: Definition; unmet: EventCondition }
  /** The definition matches; its action follows. */
  | { kind: "act"; definition: Definition }
  /** No other definition could match with an effect. */
  | { kind: "end"; outcome: "no-match" | "room-off" };

type MatchRule = Pick<EventDefinition, "id" | "action" | "conditions">;

/** The next step of matching an event. `definitions` are in the order in which the model is asked. */
export function nextStep<Definition extends MatchRule>(
  definitions: readonly Definition[],
  { payload, verdicts, roomOn }: MatchState,
): Step<Definition> {
  const judged = new Map(verdicts.map((verdict) => [verdict.definitionId, verdict]));
  const match = definitions.find(({ id }) => judged.get(id)?.matched);
  if (match) return { kind: "act", definition: match };
  const left = definitions.filter(({ id }) => !judged.has(id));
  const [definition] = left;
  if (!definition) return { kind: "end", outcome: "no-match" };
  const unmet = unmetCondition(definition.conditions, payload);
  if (unmet) return { kind: "pass", definition, unmet };
  // Without a Room a `backlog` definition would have no effect, so the model is not asked about it.
  const isIdle = (one: Definition) => one.action === "backlog" || unmetCondition(one.conditions, payload) !== null;
  if (!roomOn && left.every(isIdle)) return { kind: "end", outcome: "room-off" };
  return { kind: "ask", definition };
}

/** The longest stored answer, in UTF-16 units; longer ones are cut. */
const longestAnswer = 500;

const undecided = "The answer begins neither with yes nor with no, so it counts as no match";

/** The verdict in a model's answer; `at` is in milliseconds since the epoch. */
export function verdictOf({ id }: Pick<EventDefinition, "id">, answer: string, at: number): Verdict {
  const said = readVerdict(answer);
  return {
    definitionId: id,
    answer: clip(answer, longestAnswer),
    matched: said === true,
    at: new Date(at).toISOString(),
    ...(said === null ? { warning: undecided } : {}),
  };
}

/** The verdict for an unmet condition; `at` is in milliseconds since the epoch. */
export function passed({ id }: Pick<EventDefinition, "id">, condition: EventCondition, at: number): Verdict {
  return { definitionId: id, answer: null, matched: false, at: new Date(at).toISOString(), condition };
}
