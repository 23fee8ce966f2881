import type { CircuitBreaker } from "../core/limits/circuit-breaker.ts";
import type { NamedModel } from "../core/models/fallbacks.ts";
import type { StreamingModel } from "../core/ports.ts";
import type { Usage } from "./usage.ts";

/** A model that may answer a turn. */
export interface TurnModel {
  readonly named: NamedModel;
  /** Rejects when its key or address is missing or unusable. */
  open(): Promise<StreamingModel>;
  /** Lets the connection rest after failures; absent for a model without a connection. */
  readonly breaker?: CircuitBreaker;
}

/** The models that may answer a turn, in the order in which they are tried. */
export type TurnModels = readonly [TurnModel, ...TurnModel[]];

/** The model that a step called, and its tokens. */
export interface AnsweredStep {
  step: number;
  model: NamedModel;
  usage: Usage;
}

type CallableModel = Pick<TurnModel, "named" | "breaker">;

/** The models whose connections don't rest; all of them while each one rests. */
export function awake<Model extends CallableModel>(models: readonly [Model, ...Model[]]): readonly [Model, ...Model[]] {
  if (models.length === 1) return models;
  const [first, ...others] = models.filter(({ breaker, named }) => !breaker?.isResting(keyOf(named)));
  return first ? [first, ...others] : models;
}

/** Notes that a model is called. After its connection's rest, other turns wait for the result of this call. */
export function noteCall({ breaker, named }: CallableModel): void {
  breaker?.until(keyOf(named));
}

/** Notes whether the provider of a model answered. */
export function noteAnswer({ breaker, named }: CallableModel, answered: boolean): void {
  breaker?.note(keyOf(named), answered);
}

const keyOf = ({ connectionId }: NamedModel) => connectionId ?? "";

/** Whether two models accept each other's reasoning and signatures. */
export function isSameModel(one: NamedModel, other: NamedModel): boolean {
  return one.provider === other.provider && one.model === other.model && one.connectionId === other.connectionId;
}
