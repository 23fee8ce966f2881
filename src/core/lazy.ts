/** Calls `make` at the first call, and returns its value at every call. If `make` throws, the next call tries again. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
