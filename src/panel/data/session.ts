import { computed, signal } from "@preact/signals";
import type { Me } from "../../client/index.ts";
import { account, addressed, isRefused, reasonOf, serverUrl } from "./api.ts";

export type User = Me["user"];
export type Organization = User["organizations"][number];
export type Permission = Organization["permissions"][number];

/** The signed-in person; null: nobody is; undefined: not known yet. */
export const user = signal<User | null | undefined>(undefined);

/** The organization that the pages are about; null: the person belongs to none. */
export const organization = computed<Organization | null>(
  () => user.value?.organizations.find(({ slug }) => slug === addressed.value) ?? null,
);

/** The slug of that organization, for calls that name one in their path. */
export const orgSlug = computed(() => organization.value?.slug ?? "");

/** Whether the signed-in person may do something in the organization. The server decides: this only spares a refusal. */
export const may = (permission: Permission) => organization.value?.permissions.includes(permission) === true;

/** Whether the installation has an owner. */
export const installed = signal(true);

/** Asks who is signed in. Rejects when the server can't say. */
export async function readSession(): Promise<void> {
  const state = await account.getSetup({});
  installed.value = state.installed;
  if (state.hasSession) await readUser();
  else user.value = null;
}

/** Reads the signed-in person again, after a change of what that person is or may. */
export async function readUser(): Promise<void> {
  try {
    const { user: read } = await account.getMe();
    const known = (slug: string | null) => read.organizations.some((one) => one.slug === slug);
    const wanted = [addressed.value, localStorage.getItem(place)].find(known) ?? read.organizations[0]?.slug ?? null;
    addressed.value = wanted;
    forgetOthers(read.id);
    user.value = read;
  } catch (error) {
    if (!isRefused(error, 401)) throw error;
    user.value = null;
  }
}

/** What somebody else wrote in this tab, whose session ended here, is nothing for the person who signs in next. */
function forgetOthers(id: string): void {
  const owner = "agent-engine.user";
  if ((sessionStorage.getItem(owner) ?? id) !== id) sessionStorage.clear();
  sessionStorage.setItem(owner, id);
}

/** Where the browser keeps the organization that was looked at last. */
const place = "agent-engine.organization";

/** Goes over to another organization of the person; the server remembers it for this session. */
export async function chooseOrganization(slug: string): Promise<void> {
  await account.chooseOrganization({ body: { slug } });
  localStorage.setItem(place, slug);
  addressed.value = slug;
}

/** Tabs of the browser have one session: each tells the others where it began or ended one. */
const otherTabs = new BroadcastChannel(`agent-engine.session ${serverUrl}`);
otherTabs.onmessage = () => {
  // A tab that can't ask now notices by the next refusal.
  readUser().catch(() => {});
};

/** Rejects with the server's refusal. */
export async function signIn(email: string, password: string): Promise<void> {
  await account.signIn({ body: { email, password } });
  otherTabs.postMessage(null);
  await readUser();
}

/** Ends the session, and forgets what was written here. Rejects when the server was not reached: then the session goes on. */
export async function signOut(): Promise<void> {
  await account.signOut().catch((error: unknown) => {
    if (!isRefused(error, 401)) throw error;
  });
  otherTabs.postMessage(null);
  sessionStorage.clear();
  user.value = null;
}

/** A refusal as 401 means that the session ended: the page asks to sign in, and what is written stays. */
export function noticeEnd(error: unknown): void {
  if (isRefused(error, 401)) user.value = null;
}

/**
 * The same for what a person did. A missing permission says that the person's role changed since it was read: it is
 * read again, so that what would be refused is offered no more. Pages that read on their own, again and again, don't ask.
 */
export function noticeRefusal(error: unknown): void {
  noticeEnd(error);
  // Who can't be asked about stays as known: the refusal itself is shown.
  if (isRefused(error, 403) && reasonOf(error).startsWith("Missing permission: ")) void readUser().catch(() => {});
}
