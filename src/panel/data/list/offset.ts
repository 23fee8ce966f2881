/** The largest one that the API takes. */
const largest = 2_147_483_647;

/** The place in a list that an address names, as somebody may have typed it; what names none is the beginning. */
export function offsetIn(text: string | null | undefined): number {
  const offset = Number(text ?? 0);
  return Number.isInteger(offset) && offset > 0 && offset <= largest ? offset : 0;
}
