import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { problemsOf } from "./api.ts";
import { draftOf, keepDraft } from "./drafts.ts";
import { noticeRefusal } from "./session.ts";

/** A field, or a part of one. */
type FieldOf<T> = (keyof T & string) | `${keyof T & string}.${string}`;

export interface Form<T extends object> {
  /** What is stored, with the changes on top. */
  values: T;
  /** What is not stored yet. */
  changes: Partial<T>;
  dirty: boolean;
  busy: boolean;
  error: unknown;
  /** Why a field was refused. */
  problem(field: FieldOf<T>): string | undefined;
  set(changes: Partial<T>): void;
  /** Drops the changes. */
  reset(): void;
  /** Stores the changes; they stay when the server refuses, and so do later ones. Resolves to whether it stored them. */
  save(): Promise<boolean>;
}

/**
 * Fields with unsaved changes, which a reload does not lose. `save` is handed only what differs from `stored`, and ends
 * once `stored` is read again, so that no field shows its former value in between.
 */
export function useForm<T extends object>(
  name: string,
  stored: T,
  save: (changes: Partial<T>) => Promise<void>,
): Form<T> {
  const differing = (values: Partial<T>) =>
    Object.fromEntries(
      Object.entries(values).filter(
        ([field, value]) => JSON.stringify(value) !== JSON.stringify(stored[field as keyof T]),
      ),
    ) as Partial<T>;
  const changes = useSignal<Partial<T>>(useMemo(() => differing(draftOf<T>(name) ?? {}), []));
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const keep = (next: Partial<T>) => {
    changes.value = next;
    keepDraft(name, next);
  };
  const dirty = Object.keys(changes.value).length > 0;
  useEffect(() => {
    if (!dirty) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [dirty]);
  const problems = problemsOf(error.value);
  return {
    values: { ...stored, ...changes.value },
    changes: changes.value,
    dirty,
    busy: busy.value,
    error: error.value,
    problem: (field) => problems.get(field),
    set(more) {
      const next = differing({ ...changes.value, ...more });
      keep(next);
      // A refusal is of no use once what was refused is taken back.
      if (Object.keys(next).length === 0) error.value = undefined;
    },
    reset() {
      keep({});
      error.value = undefined;
    },
    async save() {
      if (busy.value) return false;
      const sent = changes.value;
      busy.value = true;
      try {
        await save(sent);
        const later = Object.entries(changes.value).filter(([field, value]) => value !== sent[field as keyof T]);
        keep(Object.fromEntries(later) as Partial<T>);
        error.value = undefined;
        return true;
      } catch (reason) {
        noticeRefusal(reason);
        error.value = reason;
        return false;
      } finally {
        busy.value = false;
      }
    },
  };
}
