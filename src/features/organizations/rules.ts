/** Whether people would take two names for the same. Not left to the database, whose locale may know ASCII only. */
export function isSameName(a: string, b: string): boolean {
  return foldCase(a) === foldCase(b);
}

const foldCase = (name: string) => name.normalize("NFKC").toLowerCase();
