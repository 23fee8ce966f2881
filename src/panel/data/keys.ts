/**
 * Whether Enter was pressed, and not to accept an input method's proposal. For a key that ends a composition Safari
 * reports only the code 229.
 */
export const isEnter = ({ key, isComposing, keyCode }: KeyboardEvent) =>
  key === "Enter" && !isComposing && keyCode !== 229;
