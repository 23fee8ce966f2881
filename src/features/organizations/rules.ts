/** Whether two names would be taken for the same by people; not left to the database, whose locale may know ASCII only. */
export function isSameName(a: string, b: string): boolean {
  return foldCase(a) === foldCase(b);
}

const foldCase = (name: string) => name.normalize("NFKC").toLowerCase();

/** What a new account is called when nobody said. */
export function nameOf(email: string): string {
  return email.split("@")[0] ?? email;
}
