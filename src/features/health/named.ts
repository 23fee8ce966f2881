const most = 10;

/** The first ten names, and the number of further ones. */
export function named(names: readonly string[]): string {
  const more = names.length - most;
  return names.slice(0, most).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
