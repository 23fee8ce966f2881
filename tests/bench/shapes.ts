/** The replies that are measured, under the names of their models. */
export const replyShapes = {
  /** What a turn costs. */
  short: { tokens: 12, everyMs: 5 },
  /** What a token costs. */
  long: { tokens: 250, everyMs: 15 },
  /** Little but a first token. */
  brief: { tokens: 2, everyMs: 8 },
  /** Streams that are open while others begin. */
  steady: { tokens: 24, everyMs: 25 },
  /** Streams that are open and have little to do. */
  held: { tokens: 40, everyMs: 250 },
} as const;

export type ReplyShape = keyof typeof replyShapes;

export const shapeNames = Object.keys(replyShapes) as ReplyShape[];
