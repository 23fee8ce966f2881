/**
 * Whether Enter was pressed for itself, and not to choose what an input method proposes. Safari says so only by the code
 * 229 of the key that ends a composition.
 */
export const isEnter = ({ key, isComposing, keyCode }: KeyboardEvent) =>
  key === "Enter" && !isComposing && keyCode !== 229;
