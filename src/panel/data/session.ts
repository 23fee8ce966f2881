import { computed, signal } from "@preact/signals";
import type { Impersonation, Me } from "../../client/index.ts";
import { account, addressed, isRefused, reasonOf, serverUrl } from "./api.ts";
import { impersonation, setImpersonation } from "./impersonation.ts";

export type User = Me["user"];
export type Permission = User["organizations"][number]["permissions"][number];

/** An organization whose pages the person can open; `roleKey` is null for a Platform Admin who is no member. */
type Organization = Omit<User["organizations"][number], "roleKey"> & { roleKey: string | null };

/** The signed-in person; null: nobody; undefined: not known yet. */
export const user = signal<User | null | undefined>(undefined);

export type Feature = Me["features"][number];

/** The edition of the server, and how the person of `user` is signed in; null before the first sign-in. */
const session = signal<Omit<Me, "user"> | null>(null);

/** Whether a feature of the managed edition is on. */
export const hasFeature = (feature: Feature) => session.value?.features.includes(feature) === true;

/** Whether a part of the panel is of what this server serves: of both editions, or of a feature that is on. */
export const isServed = ({ feature }: { feature?: Feature }) => feature === undefined || hasFeature(feature);

/** Whether the person has every permission in every organization. */
export const isPlatformAdmin = computed(() => session.value?.isPlatformAdmin === true);

/** The person's organizations; for a Platform Admin those of the whole installation. */
export const organizations = signal<readonly Organization[]>([]);

/** The organization of the pages; null when the person reaches none. */
export const organization = computed<Organization | null>(
  () => organizations.value.find(({ slug }) => slug === addressed.value) ?? null,
);

/** The organization's slug, for the paths of requests. */
export const orgSlug = computed(() => organization.value?.slug ?? "");

/** Whether the signed-in person has a permission. The server decides; the panel only avoids refusals. */
export const may = (permission: Permission) =>
  organization.value !== null && (isPlatformAdmin.value || organization.value.permissions.includes(permission));

/** Whether the installation has an owner. */
export const installed = signal(true);

/** Whether people may ask for a link to reset their password. */
export const resetsByMail = signal(false);

/** Reads who is signed in. Rejects when the server can't tell. */
export async function readSession(): Promise<void> {
  const state = await account.getSetup({});
  installed.value = state.installed;
  resetsByMail.value = state.resetsByMail === true;
  if (state.hasSession || impersonation.value !== null) await readUser();
  else user.value = null;
}

/** Reads the signed-in person again, after a change of the profile or role. */
export async function readUser(): Promise<void> {
  try {
    const { user: read, ...rest } = await account.getMe();
    const reached = rest.isPlatformAdmin ? await everyOrganization(read) : read.organizations;
    const known = (slug: string | null) => reached.some((one) => one.slug === slug);
    const wanted = [addressed.value, localStorage.getItem(place)].find(known) ?? reached[0]?.slug ?? null;
    addressed.value = wanted;
    forgetOthers(read.id);
    session.value = rest;
    organizations.value = reached;
    user.value = read;
  } catch (error) {
    if (!isRefused(error, 401)) throw error;
    if (impersonation.value === null) user.value = null;
    else await leaveImpersonation();
  }
}

/** The organizations of the installation, first those that the Platform Admin belongs to. */
async function everyOrganization({ organizations: own }: User): Promise<Organization[]> {
  const { organizations: all } = await account.listOrganizations();
  const others = all.filter(({ slug }) => !own.some((one) => one.slug === slug));
  return [...own, ...others.map(({ slug, name, roleKey }) => ({ slug, name, roleKey, permissions: [] }))];
}

/** Deletes drafts that another person wrote in this tab before signing out. */
function forgetOthers(id: string): void {
  const owner = "agent-engine.user";
  if ((sessionStorage.getItem(owner) ?? id) !== id) sessionStorage.clear();
  sessionStorage.setItem(owner, id);
}

/** The browser's storage key for the last organization. */
const place = "agent-engine.organization";

/**
 * Changes to another organization that the person reaches; the server stores the choice in the session. An impersonation
 * stores nothing.
 */
export async function chooseOrganization(slug: string): Promise<void> {
  if (impersonation.value === null) {
    await account.chooseOrganization({ body: { slug } });
    localStorage.setItem(place, slug);
  }
  addressed.value = slug;
}

/** Shows in this tab what a user sees, until the time is over. Rejects with the server's refusal. */
export async function impersonate(id: string, body: Impersonation): Promise<void> {
  setImpersonation(await account.impersonateUser({ id, body }));
  await readUser();
}

/** Shows the signed-in person's own view again. Rejects when the server can't be reached. */
export async function stopImpersonating(): Promise<void> {
  await account.stopImpersonating().catch((error: unknown) => {
    if (!isRefused(error, 401)) throw error;
  });
  await leaveImpersonation();
}

async function leaveImpersonation(): Promise<void> {
  setImpersonation(null);
  await readUser();
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

/**
 * Shows the sign-in page after a 401, which means that the session ended; drafts stay. When an impersonation ended, the
 * admin's own view comes back.
 */
export function noticeEnd(error: unknown): void {
  if (!isRefused(error, 401)) return;
  if (impersonation.value === null) user.value = null;
  // If the read fails, nothing changes: the next refusal reads again.
  else void readUser().catch(() => {});
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
