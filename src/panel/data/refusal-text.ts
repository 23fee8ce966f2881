/** The text for a refused request, with the time after which to retry, if the response contains it (a proxy's may not). */
export const refusalText = (message: string, waitSeconds: number | null): string =>
  waitSeconds === null || /\d second/.test(message) ? message : `${message}. Try again in ${waitSeconds} s.`;

/** Puts the problem of a refused field into words; undefined for a field that has no name on the page. */
export type Say = (path: string, message: string) => string | undefined;

/** Lists the problems of refused fields by the fields' names on the page. */
export const issuesText = (issues: readonly { path: string; message: string }[], say: Say): string =>
  issues.map(({ path, message }) => say(path, message) ?? (path ? `${path}: ${message}` : message)).join("; ");
