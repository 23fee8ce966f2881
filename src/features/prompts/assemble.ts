import { clip } from "../../core/text/text.ts";
import { promptTexts, type StoredPrompts } from "./sections.ts";
import {
  changesWithTurn,
  Filling,
  type FixedValues,
  parse,
  render,
  type Template,
  type TurnValues,
} from "./template.ts";

/** Renders the prompt of a turn. `stable`: the length of its beginning that is the same in every turn. */
export type PreparedPrompt = (turn: TurnValues) => { text: string; stable: number };

const separator = "\n\n";
const join = (texts: readonly string[]) => texts.filter((text) => text !== "").join(separator);

/**
 * Renders the parts of the prompt that are the same in every turn, once for a cached agent. The returned function adds
 * the values of a turn.
 */
export function preparePrompt(stored: StoredPrompts, fixed: FixedValues): PreparedPrompt {
  const filling = new Filling();
  const pieces = promptTexts(stored).map((text): string | Template => {
    const template = parse(text);
    return changesWithTurn(template) ? template : render(template, { ...fixed, ...nothing }, filling);
  });
  const first = pieces.findIndex((piece) => typeof piece !== "string");
  const end = first === -1 ? pieces.length : first;
  const beginning = join(pieces.slice(0, end).filter((piece) => typeof piece === "string"));
  const rest = pieces.slice(end);
  return (turn) => {
    const values = { ...fixed, ...turn, userName: oneLine(turn.userName) };
    const ofTurn = new Filling(filling);
    const texts = rest.map((piece) => (typeof piece === "string" ? piece : render(piece, values, ofTurn)));
    return { text: join([beginning, ...texts]), stable: beginning.length };
  };
}

/** The whole prompt, without a cache. */
export function assemblePrompt(stored: StoredPrompts, values: FixedValues & TurnValues): string {
  return preparePrompt(stored, values)(values).text;
}

const nothing: TurnValues = { datetime: "", memories: "", userName: "", state: "" };

/** Values that leave the placeholders of a turn unfilled, so that prompts can be compared apart from these values. */
export const unfilled: TurnValues = {
  datetime: "{{datetime}}",
  memories: "{{memories}}",
  userName: "{{userName}}",
  state: "{{state}}",
};

/** Users choose their names themselves. On a single line, a name can't look like a section of the prompt. */
function oneLine(name: string): string {
  return clip(name.replaceAll(/[\s\p{Cc}]+/gu, " ").trim(), 200);
}
