/** The two replies that are measured, under the names of their models. */
export const replyShapes = {
  short: { tokens: 12, everyMs: 5 },
  long: { tokens: 400, everyMs: 15 },
} as const;

export type ReplyShape = keyof typeof replyShapes;
