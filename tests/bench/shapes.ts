interface Reply {
  tokens: number;
  /** 0: all at once. A reply that is not streamed is always whole at once. */
  everyMs: number;
}

/** The replies that are measured, under the names of their models. */
const shapes = {
  /** A turn that is not streamed. */
  whole: { tokens: 100, everyMs: 0 },
  /** A turn of a conversation that continues. */
  next: { tokens: 5, everyMs: 0 },
  /** The cost of a token. */
  stream: { tokens: 150, everyMs: 30 },
  /** More than one core can relay for 200 streams. */
  fast: { tokens: 600, everyMs: 10 },
  /** A short streamed turn. */
  short: { tokens: 12, everyMs: 5 },
  /** Little but a first token. */
  brief: { tokens: 2, everyMs: 8 },
  /** Streams that are open while others begin. */
  steady: { tokens: 24, everyMs: 25 },
  /** Streams that are open and mostly idle. */
  held: { tokens: 40, everyMs: 250 },
  /** The messages of long conversations. */
  paragraph: { tokens: 80, everyMs: 2 },
} satisfies Record<string, Reply>;

export type ReplyShape = keyof typeof shapes;

export const replyShapes: Readonly<Record<ReplyShape, Reply>> = shapes;

export const shapeNames = Object.keys(shapes) as ReplyShape[];
