import { useSignal } from "@preact/signals";

interface Choice<T> {
  /** The choice that is being stored, or else the stored one. */
  chosen: T;
  /** Resolves once this or an earlier choice is stored; rejects when a choice is refused. */
  choose(value: T): Promise<void>;
}

/**
 * A choice that is stored at once, without a button. `store` resolves after `stored` is read again, so that the former
 * choice is not shown in between. Of several choices made while `store` runs, only the last is stored afterwards.
 */
export function useChoice<T>(stored: T, store: (value: T) => Promise<void>): Choice<T> {
  const wanted = useSignal<{ value: T } | undefined>(undefined);
  const choose = async (value: T) => {
    const storing = wanted.value !== undefined;
    wanted.value = { value };
    if (storing) return;
    try {
      let last: T;
      do {
        last = wanted.value.value;
        await store(last);
      } while (wanted.value.value !== last);
    } finally {
      wanted.value = undefined;
    }
  };
  return { chosen: wanted.value ? wanted.value.value : stored, choose };
}
