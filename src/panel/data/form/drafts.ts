// The storage key of unsaved input. It is stored for this tab only, and survives a reload and the end of a session.

const place = (name: string) => `agent-engine.draft.${name}`;

/** The unsaved changes under this name; null when there are none, or no name. */
export function draftOf<T extends object>(name: string | null): Partial<T> | null {
  if (name === null) return null;
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(place(name)) ?? "null");
    return typeof value === "object" ? (value as Partial<T> | null) : null;
  } catch {
    return null;
  }
}

export function keepDraft(name: string | null, changes: object | null): void {
  if (name === null) return;
  if (changes === null || Object.keys(changes).length === 0) sessionStorage.removeItem(place(name));
  else sessionStorage.setItem(place(name), JSON.stringify(changes));
}
