import { useSignal } from "@preact/signals";

interface Choice<T> {
  /** What was chosen while that is being stored, otherwise what is stored. */
  chosen: T;
  /** Resolves once the last choice is stored, or one before it is; rejects when a choice is refused. */
  choose(value: T): Promise<void>;
}

/**
 * A choice that is stored as soon as it is made, without a button. `store` ends once `stored` is read again, so that the
 * former choice is not shown in between. What is chosen while `store` runs is stored after it, the last choice alone.
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
