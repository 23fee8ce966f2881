interface Reply {
  tokens: number;
  everyMs: number;
  /** Each piece that stands for a token is filled up to so many characters. */
  pieceLength?: number;
  /** How long the model still thinks after the last token. */
  restMs?: number;
}

/** The replies that are measured, under the names of their models. */
const shapes = {
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
  /** What long conversations are made of. */
  paragraph: { tokens: 80, everyMs: 2 },
  /** Streams that have said far more than a socket takes in, 768 KiB, and are still open. */
  loud: { tokens: 24, everyMs: 200, pieceLength: 32 * 1024, restMs: 10_000 },
} satisfies Record<string, Reply>;

export type ReplyShape = keyof typeof shapes;

export const replyShapes: Readonly<Record<ReplyShape, Reply>> = shapes;

export const shapeNames = Object.keys(shapes) as ReplyShape[];
