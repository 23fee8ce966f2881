import { useSignal } from "@preact/signals";
import type { goTo } from "../route.ts";
import { type LoadedValue, useLoaded, useRefresh } from "./load.ts";

/** The position of a page within a list. */
interface Part {
  limit: number;
  offset: number;
}

/** Some items of a list. */
interface Items<Item> extends Part {
  items: readonly Item[];
  total: number;
}

export interface List<Item> extends LoadedValue<Items<Item>> {
  /** Shows another page; `go` navigates, for a list with its offset in the address. */
  onOffset: (offset: number, go: typeof goTo) => void;
}

/** The API's response: the items under the list's own name, with page numbers if the list has paging. */
type Answer<Key extends string, Item> = { [Name in Key]: readonly Item[] } & Partial<Part & { total: number }>;

interface Options {
  limit?: number;
  /** The interval at which the list is read again, in milliseconds. */
  everyMs?: number;
  /** When this value changes, the same page is read again. */
  last?: string;
  /** For a list whose offset is in the address. */
  place?: { offset: number; onOffset: List<unknown>["onOffset"] };
}

/** A list that the API returns under the name `key`. When one of `inputs` changes, the first page is read. */
export function useList<Key extends string, Item>(
  key: Key,
  read: (part: Part, signal: AbortSignal) => Promise<Answer<Key, Item>>,
  inputs: readonly unknown[],
  { limit = 25, everyMs, last, place }: Options = {},
): List<Item> {
  const about = JSON.stringify(inputs);
  /** The offset that was chosen for these inputs. */
  const own = useSignal({ about, offset: 0 });
  const offset = place?.offset ?? (own.value.about === about ? own.value.offset : 0);
  const loaded = useLoaded(
    async (signal) => {
      const answer = await read({ limit, offset }, signal);
      const items = answer[key];
      const { total = items.length } = answer;
      return { items, total, limit: answer.limit ?? total, offset: answer.offset ?? 0 };
    },
    [...inputs, offset, last],
  );
  useRefresh(loaded.reload, everyMs);
  const onOffset = (next: number) => {
    own.value = { about, offset: next };
  };
  return { ...loaded, onOffset: place?.onOffset ?? onOffset };
}
