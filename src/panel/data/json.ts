/** Parses JSON. Throws for invalid JSON, with its position and `subject` in words for people. */
export function jsonIn(text: string, subject: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${subject} is not JSON${placeIn(text, String(error))}: look for a missing quote or comma`);
  }
}

/** The position of the error, which browsers report as a line, as a position or, as Safari does, not at all. */
function placeIn(text: string, message: string): string {
  const line = /line (\d+)/.exec(message)?.[1];
  if (line !== undefined) return ` from line ${line} on`;
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return ` from line ${text.slice(0, Number(position)).split("\n").length} on`;
  return /end of/i.test(message) ? " to its end" : "";
}
