/** One event of a turn. */
export interface ChatEvent {
  event: string;
  /** What the stream can be resumed by; null when the event has none. */
  id: string | null;
  data: Record<string, unknown>;
}
