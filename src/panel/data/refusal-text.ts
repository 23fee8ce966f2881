/** Why a call was refused, and when to try again. The server's own refusals say that already; a proxy's do not. */
export const refusalText = (message: string, waitSeconds: number | null): string =>
  waitSeconds === null || /\d second/.test(message) ? message : `${message}. Try again in ${waitSeconds} s.`;

/** What a page says of a refused field; undefined where it has no name for it. */
export type Say = (path: string, message: string) => string | undefined;

/** Why fields were refused, each by the name that the page has for it. */
export const issuesText = (issues: readonly { path: string; message: string }[], say: Say): string =>
  issues.map(({ path, message }) => say(path, message) ?? (path ? `${path}: ${message}` : message)).join("; ");
