import { signal } from "@preact/signals";
import { api } from "./api.ts";

/** The number of tool calls that wait for approval, as last read; null when unknown. */
export const waitingApprovals = signal<number | null>(null);

/** Reads at most `limit` of the tool calls that wait for approval, and their total. */
export async function readApprovals(limit: number) {
  const page = await api.listApprovals({ limit });
  waitingApprovals.value = page.total;
  return page;
}
