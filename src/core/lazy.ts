/** What `make` answers, made at the first call; all calls answer the same value. A `make` that throws is tried again. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
