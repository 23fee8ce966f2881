import { signal } from "@preact/signals";
import type { ImpersonationToken } from "../../client/index.ts";

/** The key in the tab's own storage: other tabs of the browser go on as the admin. */
const place = "agent-engine.impersonation";

/** The token with which this tab shows what another person sees; null: the tab shows the signed-in person's own view. */
export const impersonation = signal<ImpersonationToken | null>(readStored());

function readStored(): ImpersonationToken | null {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? "null") as ImpersonationToken | null;
  } catch {
    return null;
  }
}

/** Begins an impersonation, or ends it with null. Drafts of the former view are deleted. */
export function setImpersonation(value: ImpersonationToken | null): void {
  sessionStorage.clear();
  if (value) sessionStorage.setItem(place, JSON.stringify(value));
  impersonation.value = value;
}

/** The header with the impersonation's token. Without one the browser sends the session cookie. */
export const credential = (): Record<string, string> =>
  impersonation.value === null ? {} : { Authorization: `Bearer ${impersonation.value.token}` };
