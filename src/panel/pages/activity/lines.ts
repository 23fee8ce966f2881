import type { ActivityEvent } from "../../../client/index.ts";

/** What the page keeps: the newest first. */
export const mostLines = 500;

export interface Lines {
  shown: readonly ActivityEvent[];
  /** What came while the page was paused, the newest first. */
  held: readonly ActivityEvent[];
}

export const noLines: Lines = { shown: [], held: [] };

/** The lines with one more event. A server that started anew tells again of what it still knows: that is dropped. */
export function withEvent(lines: Lines, event: ActivityEvent, paused: boolean): Lines {
  const isKnown = ({ id }: ActivityEvent) => id === event.id;
  if (lines.shown.some(isKnown) || lines.held.some(isKnown)) return lines;
  if (paused) return { ...lines, held: [event, ...lines.held].slice(0, mostLines) };
  return { ...lines, shown: [event, ...lines.shown].slice(0, mostLines) };
}

/** All of it shown, once the page goes on. */
export const released = ({ shown, held }: Lines): Lines => ({
  shown: [...held, ...shown].slice(0, mostLines),
  held: [],
});
