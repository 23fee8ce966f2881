/** Four bullets, with which the mask of a credential begins. */
export const maskSign = "••••";

/** Shorter values are masked completely, since four visible characters would reveal too much. */
const shortestShown = 12;

/** Whether a value is the mask of a stored credential: sent back, it keeps the stored one. */
export const isMask = (value: string) => value.startsWith(maskSign);

/** A credential's mask, with the last four characters of a long one. */
export const maskOf = (value: string) =>
  value.length < shortestShown ? maskSign : `${maskSign}${value.slice(-4).toWellFormed()}`;
