import { signal } from "@preact/signals";
import { api } from "./api.ts";

/** How many calls of tools wait for a person, as read last; null: not known. */
export const waitingApprovals = signal<number | null>(null);

/** Reads the calls that wait, at most `limit` of them, and with them how many there are. */
export async function readApprovals(limit: number) {
  const page = await api.listApprovals({ limit });
  waitingApprovals.value = page.total;
  return page;
}
