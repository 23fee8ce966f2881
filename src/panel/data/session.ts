import { computed, signal } from "@preact/signals";
import type { Me } from "../../client/index.ts";
import { api, isRefused } from "./api.ts";

type User = Me["user"];

/** The signed-in person; null: nobody is; undefined: not known yet. */
export const user = signal<User | null | undefined>(undefined);

/** The organization that the pages are about. */
export const organization = computed(() => user.value?.organizations[0] ?? null);

/** Whether the installation has an owner. */
export const installed = signal(true);

/** Asks who is signed in. Rejects when the server can't say. */
export async function readSession(): Promise<void> {
  const state = await api.getSetup({});
  installed.value = state.installed;
  if (state.hasSession) await readUser();
  else user.value = null;
}

async function readUser(): Promise<void> {
  try {
    user.value = (await api.getMe()).user;
  } catch (error) {
    if (!isRefused(error, 401)) throw error;
    user.value = null;
  }
}

/** Rejects with the server's refusal. */
export async function signIn(email: string, password: string): Promise<void> {
  await api.signIn({ body: { email, password } });
  await readUser();
}

export async function signOut(): Promise<void> {
  await api.signOut().catch(() => {});
  user.value = null;
}

/** A refusal as 401 means that the session ended: the page asks to sign in, and what is written stays. */
export function noticeEnd(error: unknown): void {
  if (isRefused(error, 401)) user.value = null;
}
