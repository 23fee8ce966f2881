/** One event of a turn. */
export interface ChatEvent {
  event: string;
  /** The id with which the stream is resumed; null for an event without one. */
  id: string | null;
  data: Record<string, unknown>;
}
