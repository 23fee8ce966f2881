/** Whether people would take two names for equal. Not decided by the database, whose locale may know only ASCII. */
export function isSameName(a: string, b: string): boolean {
  return foldCase(a) === foldCase(b);
}

const foldCase = (name: string) => name.normalize("NFKC").toLowerCase();
