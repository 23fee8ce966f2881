/** The largest offset that the API accepts. */
const largest = 2_147_483_647;

/** The offset in an address, which a person may have typed; 0 for an invalid one. */
export function offsetIn(text: string | null | undefined): number {
  const offset = Number(text ?? 0);
  return Number.isInteger(offset) && offset > 0 && offset <= largest ? offset : 0;
}
