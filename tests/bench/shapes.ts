interface Reply {
  tokens: number;
  /** 0: all at once. A reply that is not streamed is always whole at once. */
  everyMs: number;
}

/** The replies that are measured, under the names of their models. */
const shapes = {
  /** A turn that is not streamed. */
  whole: { tokens: 100, everyMs: 0 },
  /** One of a conversation that goes on. */
  next: { tokens: 5, everyMs: 0 },
  /** What a token costs. */
  stream: { tokens: 150, everyMs: 30 },
  /** More than one core can relay 200 times. */
  fast: { tokens: 600, everyMs: 10 },
  /** A short streamed turn. */
  short: { tokens: 12, everyMs: 5 },
  /** Little but a first token. */
  brief: { tokens: 2, everyMs: 8 },
  /** Streams that are open while others begin. */
  steady: { tokens: 24, everyMs: 25 },
  /** Streams that are open and have little to do. */
  held: { tokens: 40, everyMs: 250 },
  /** What long conversations are made of. */
  paragraph: { tokens: 80, everyMs: 2 },
} satisfies Record<string, Reply>;

export type ReplyShape = keyof typeof shapes;

export const replyShapes: Readonly<Record<ReplyShape, Reply>> = shapes;

export const shapeNames = Object.keys(shapes) as ReplyShape[];
