import { computed, signal } from "@preact/signals";
import type { Me } from "../../client/index.ts";
import { account, addressed, isRefused, reasonOf, serverUrl } from "./api.ts";

export type User = Me["user"];
export type Organization = User["organizations"][number];
export type Permission = Organization["permissions"][number];

/** The signed-in person; null: nobody; undefined: not known yet. */
export const user = signal<User | null | undefined>(undefined);

export type Feature = Me["features"][number];

/** The edition of the server, and how the person of `user` is signed in; null before the first sign-in. */
const session = signal<Omit<Me, "user"> | null>(null);

/** Whether a feature of the managed edition is on. */
export const hasFeature = (feature: Feature) => session.value?.features.includes(feature) === true;

/** The organization of the pages; null when the person belongs to none. */
export const organization = computed<Organization | null>(
  () => user.value?.organizations.find(({ slug }) => slug === addressed.value) ?? null,
);

/** The organization's slug, for the paths of requests. */
export const orgSlug = computed(() => organization.value?.slug ?? "");

/** Whether the signed-in person has a permission. The server decides; the panel only avoids refusals. */
export const may = (permission: Permission) => organization.value?.permissions.includes(permission) === true;

/** Whether the installation has an owner. */
export const installed = signal(true);

/** Whether people may ask for a link to reset their password. */
export const resetsByMail = signal(false);

/** Reads who is signed in. Rejects when the server can't tell. */
export async function readSession(): Promise<void> {
  const state = await account.getSetup({});
  installed.value = state.installed;
  resetsByMail.value = state.resetsByMail === true;
  if (state.hasSession) await readUser();
  else user.value = null;
}

/** Reads the signed-in person again, after a change of the profile or role. */
export async function readUser(): Promise<void> {
  try {
    const { user: read, ...rest } = await account.getMe();
    const known = (slug: string | null) => read.organizations.some((one) => one.slug === slug);
    const wanted = [addressed.value, localStorage.getItem(place)].find(known) ?? read.organizations[0]?.slug ?? null;
    addressed.value = wanted;
    forgetOthers(read.id);
    session.value = rest;
    user.value = read;
  } catch (error) {
    if (!isRefused(error, 401)) throw error;
    user.value = null;
  }
}

/** Deletes drafts that another person wrote in this tab before signing out. */
function forgetOthers(id: string): void {
  const owner = "agent-engine.user";
  if ((sessionStorage.getItem(owner) ?? id) !== id) sessionStorage.clear();
  sessionStorage.setItem(owner, id);
}

/** The browser's storage key for the last organization. */
const place = "agent-engine.organization";

/** Changes to another organization of the person; the server stores the choice in the session. */
export async function chooseOrganization(slug: string): Promise<void> {
  await account.chooseOrganization({ body: { slug } });
  localStorage.setItem(place, slug);
  addressed.value = slug;
}

/** All tabs of a browser share one session, so each tab tells the others when it begins or ends the session. */
const otherTabs = new BroadcastChannel(`agent-engine.session ${serverUrl}`);
otherTabs.onmessage = () => {
  // A tab that can't read now notices the end of the session at its next refusal.
  readUser().catch(() => {});
};

/** Signs in. Rejects with the server's refusal. */
export async function signIn(email: string, password: string): Promise<void> {
  await account.signIn({ body: { email, password } });
  otherTabs.postMessage(null);
  await readUser();
}

/** Ends the session and deletes drafts. Rejects when the server can't be reached; the session then continues. */
export async function signOut(): Promise<void> {
  await account.signOut().catch((error: unknown) => {
    if (!isRefused(error, 401)) throw error;
  });
  otherTabs.postMessage(null);
  sessionStorage.clear();
  user.value = null;
}

/** Shows the sign-in page after a 401, which means that the session ended; drafts stay. */
export function noticeEnd(error: unknown): void {
  if (isRefused(error, 401)) user.value = null;
}

/**
 * `noticeEnd`, for actions of a person. A missing permission means that the person's role changed: the role is read
 * again, so that the page hides what it does not allow. Pages that read repeatedly don't call this.
 */
export function noticeRefusal(error: unknown): void {
  noticeEnd(error);
  // If the read fails, nothing changes: the refusal itself is shown.
  if (isRefused(error, 403) && reasonOf(error).startsWith("Missing permission: ")) void readUser().catch(() => {});
}
