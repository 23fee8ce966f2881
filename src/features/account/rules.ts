/** The name of a new account when the request gives none. */
export function nameOf(email: string): string {
  return email.split("@")[0] ?? email;
}
