/** Calls `make` once and returns its value at every call. A `make` that throws is retried. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
