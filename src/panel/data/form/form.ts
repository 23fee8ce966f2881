import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { problemsOf } from "../api.ts";
import { noticeRefusal } from "../session.ts";
import { draftOf, keepDraft } from "./drafts.ts";
import { changeAt, valueAt } from "./paths.ts";

export interface Form<T extends object> {
  /** The stored values with the unsaved changes applied. */
  values: T;
  /** The unsaved changes. */
  changes: Partial<T>;
  dirty: boolean;
  busy: boolean;
  error: unknown;
  /** The value that somebody else has saved at this path since it was changed here; undefined when nobody has. */
  othersValue(path: string): unknown;
  /** Why the value at this path was refused. */
  problem(path: string): string | undefined;
  set(changes: Partial<T>): void;
  setAt(path: string, value: unknown): void;
  /** Drops the changes. */
  reset(): void;
  /** Stores the changes; resolves to whether that worked. Refused changes stay, as do changes made meanwhile. */
  save(): Promise<boolean>;
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * A form's fields with unsaved changes. The draft survives a reload under `name`; null: it does not. `save` gets only
 * the fields that differ from `stored`, and resolves after `stored` is read again, so that no field shows its former
 * value in between.
 */
export function useForm<T extends object>(
  name: string | null,
  stored: T,
  save: (changes: Partial<T>) => Promise<void>,
): Form<T> {
  const differing = (values: Partial<T>) =>
    Object.fromEntries(
      Object.entries(values).filter(([field, value]) => !isSame(value, stored[field as keyof T])),
    ) as Partial<T>;
  const changes = useSignal<Partial<T>>(useMemo(() => differing(draftOf<T>(name) ?? {}), []));
  /** The value of each changed field when its change began. */
  const basesName = name && `bases.${name}`;
  const bases = useSignal<Partial<T>>(useMemo(() => draftOf<T>(basesName) ?? {}, []));
  const busy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const keep = (next: Partial<T>, former: Partial<T>) => {
    changes.value = next;
    keepDraft(name, next);
    const fields = Object.keys(next) as (keyof T)[];
    bases.value = Object.fromEntries(fields.map((field) => [field, former[field]])) as Partial<T>;
    keepDraft(basesName, bases.value);
  };
  const dirty = Object.keys(changes.value).length > 0;
  const asks = dirty && name !== null;
  useEffect(() => {
    if (!asks) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [asks]);
  const problems = problemsOf(error.value);
  const set = (more: Partial<T>) => {
    const next = differing({ ...changes.value, ...more });
    keep(next, { ...stored, ...bases.value });
    // When no change is left, the refusal has no meaning any more.
    if (Object.keys(next).length === 0) error.value = undefined;
  };
  return {
    values: { ...stored, ...changes.value },
    changes: changes.value,
    dirty,
    busy: busy.value,
    error: error.value,
    othersValue(path) {
      const [own, base, other] = [changes.value, bases.value, stored].map((values) => valueAt(values, path));
      return own !== undefined && !isSame(base, other) && !isSame(own, other) ? other : undefined;
    },
    problem: (path) => problems.get(path),
    set,
    setAt: (path, value) => set(changeAt({ ...stored, ...changes.value }, path, value)),
    reset() {
      keep({}, {});
      error.value = undefined;
    },
    async save() {
      if (busy.value) return false;
      const sent = changes.value;
      busy.value = true;
      try {
        await save(sent);
        const later = Object.entries(changes.value).filter(([field, value]) => value !== sent[field as keyof T]);
        keep(Object.fromEntries(later) as Partial<T>, { ...bases.value, ...sent });
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
