export type Choices = readonly { value: string; label: string }[];

/** Choices of values with their labels. */
export const choicesOf = <Value extends string>(labels: Readonly<Record<Value, string>>) =>
  (Object.entries(labels) as [Value, string][]).map(([value, label]) => ({ value, label }));

/** Choices that begin with one for all. If the chosen value is not among them, it is added. */
export function choicesWith(all: string, choices: Choices, chosen = ""): Choices {
  const isKnown = chosen === "" || choices.some(({ value }) => value === chosen);
  return [{ value: "", label: all }, ...choices, ...(isKnown ? [] : [{ value: chosen, label: chosen }])];
}
