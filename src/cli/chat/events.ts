/** One event of a turn. */
export interface ChatEvent {
  event: string;
  /** The id to resume the stream by; null when the event has none. */
  id: string | null;
  data: Record<string, unknown>;
}
