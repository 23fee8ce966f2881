/** Calls `make` at the first call; all calls return the same value. A `make` that throws is tried again. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
