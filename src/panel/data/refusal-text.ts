/** Why a call was refused, and when to try again. The server's own refusals say that already; a proxy's do not. */
export const refusalText = (message: string, waitSeconds: number | null): string =>
  waitSeconds === null || /\d second/.test(message) ? message : `${message}. Try again in ${waitSeconds} s.`;
