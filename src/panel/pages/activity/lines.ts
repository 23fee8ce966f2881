import type { ActivityEvent } from "../../../client/index.ts";

/** The most lines, the newest first. */
export const mostLines = 500;

export interface Lines {
  shown: readonly ActivityEvent[];
  /** Lines that came while the page was paused, the newest first. */
  held: readonly ActivityEvent[];
}

export const noLines: Lines = { shown: [], held: [] };

/** Adds an event to the lines. A restarted server repeats events, which are dropped. */
export function withEvent(lines: Lines, event: ActivityEvent, paused: boolean): Lines {
  const isKnown = ({ id }: ActivityEvent) => id === event.id;
  if (lines.shown.some(isKnown) || lines.held.some(isKnown)) return lines;
  if (paused) return { ...lines, held: [event, ...lines.held].slice(0, mostLines) };
  return { ...lines, shown: [event, ...lines.shown].slice(0, mostLines) };
}

/** Shows the lines that came during a pause when the page continues. */
export const released = ({ shown, held }: Lines): Lines => ({
  shown: [...held, ...shown].slice(0, mostLines),
  held: [],
});
