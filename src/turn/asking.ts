import { isBlank } from "../core/text/text.ts";
import { NoAnswer } from "./failure.ts";
import type { ToolUse } from "./prompt.ts";
import type { StepFold } from "./step.ts";
import type { StepType } from "./types.ts";

/**
 * Decides before each step how a turn calls its model, until the model has answered (decisions §14, "The end of a
 * reply").
 */
export class StepPlanner {
  readonly #maxSteps: number;
  #toolUse: ToolUse = "auto";
  #asked = 0;
  #hasResults = true;
  #repeated = false;

  constructor(maxSteps: number) {
    this.#maxSteps = maxSteps;
  }

  /** Plans the step with this index. The last of `maxSteps` forbids tool calls, so that the model answers. */
  plan(index: number): { index: number; stepType: StepType; toolUse: ToolUse } {
    this.#asked += 1;
    if (this.#asked >= this.#maxSteps && this.#toolUse === "auto") this.#toolUse = "none";
    const stepType = index === 0 ? "initial" : this.#hasResults ? "tool-result" : "continue";
    return { index, stepType, toolUse: this.#toolUse };
  }

  /**
   * Whether another model call follows a step. `called`: the turn called a tool, after which a reply without text is
   * allowed. Throws `NoAnswer` when the model won't answer.
   */
  goesOn({ text, calls }: Pick<StepFold, "text" | "calls">, called: boolean): boolean {
    this.#hasResults = this.#toolUse === "auto" && calls.length > 0;
    if (this.#hasResults) return true;
    if (!isBlank(text)) return false;
    if (this.#toolUse === "auto") return called ? false : this.#repeat();
    if (this.#toolUse === "none" && calls.length > 0) {
      this.#toolUse = "hidden";
      return true;
    }
    if (this.#toolUse === "none" && !called) return this.#repeat();
    throw new NoAnswer(`The agent stopped after ${this.#maxSteps} steps without an answer`);
  }

  #repeat(): true {
    if (this.#repeated) throw new NoAnswer("The model said nothing");
    this.#repeated = true;
    return true;
  }
}
