/**
 * Whether Enter was pressed, but not to accept a suggestion of an input method. Safari gives the key that ends a
 * composition only the code 229.
 */
export const isEnter = ({ key, isComposing, keyCode }: KeyboardEvent) =>
  key === "Enter" && !isComposing && keyCode !== 229;
