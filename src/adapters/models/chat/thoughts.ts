const openings = ["<think>", "<thinking>"];

/**
 * Tells what a model thinks from what it says, where its server leaves the thoughts at the beginning of the text as
 * `<think>…</think>`. Such a block counts there only, since a later one may be what the text is about. A mere `</think>`
 * stays text: what is before it was told by then.
 */
export class ThoughtsInText {
  readonly #say: (kind: "text" | "reasoning", text: string) => void;
  #at: "start" | "opened" | "thoughts" | "closed" = "start";
  #closing = "";
  /** What may be the beginning of a tag. */
  #held = "";

  constructor(say: (kind: "text" | "reasoning", text: string) => void) {
    this.#say = say;
  }

  /** Takes a piece of the text. False: all that follows is text. */
  take(piece: string): boolean {
    let text = this.#held + piece;
    this.#held = "";
    if (this.#at === "start") {
      const rest = text.trimStart();
      const opening = openings.find((tag) => rest.startsWith(tag));
      if (opening === undefined && !openings.some((tag) => tag.startsWith(rest))) {
        this.#say("text", text);
        return false;
      }
      this.#say("text", text.slice(0, text.length - rest.length));
      if (opening === undefined) {
        this.#held = rest;
        return true;
      }
      this.#at = "opened";
      this.#closing = opening.replace("<", "</");
      text = rest.slice(opening.length);
    }
    if (this.#at === "opened") {
      text = text.trimStart();
      if (text !== "") this.#at = "thoughts";
    }
    if (this.#at === "thoughts") {
      const end = text.indexOf(this.#closing);
      const thought = end < 0 ? text.length - overlap(text, this.#closing) : end;
      this.#say("reasoning", text.slice(0, thought));
      if (end < 0) this.#held = text.slice(thought);
      else this.#at = "closed";
      text = text.slice(end + this.#closing.length);
    }
    if (this.#at !== "closed") return true;
    text = text.trimStart();
    this.#say("text", text);
    return text === "";
  }

  /** Says what is held back: it is no tag, since something else follows it. */
  flush(): void {
    const held = this.#held;
    this.#held = "";
    this.#say(this.#at === "start" ? "text" : "reasoning", held);
  }
}

/** How much of the end of a text is the beginning of a tag, in UTF-16 units. */
function overlap(text: string, tag: string): number {
  let length = Math.min(text.length, tag.length - 1);
  while (length > 0 && !text.endsWith(tag.slice(0, length))) length -= 1;
  return length;
}
