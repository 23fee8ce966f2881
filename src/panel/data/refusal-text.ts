/** The text for a refused request, with the time to retry, which a proxy's refusal lacks. */
export const refusalText = (message: string, waitSeconds: number | null): string =>
  waitSeconds === null || /\d second/.test(message) ? message : `${message}. Try again in ${waitSeconds} s.`;

/** Words the problem of a refused field; undefined for a field without a name on the page. */
export type Say = (path: string, message: string) => string | undefined;

/** Lists the problems of refused fields by the fields' names on the page. */
export const issuesText = (issues: readonly { path: string; message: string }[], say: Say): string =>
  issues.map(({ path, message }) => say(path, message) ?? (path ? `${path}: ${message}` : message)).join("; ");
