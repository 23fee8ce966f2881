const openings = ["<think>", "<thinking>"];
const tags = [...openings, "</think>", "</thinking>"];
const tag = /<(\/?)think(?:ing)?>/;

/** The habits of a model that its earlier replies have shown. */
export interface Habit {
  /** Whether replies begin with thoughts that have no opening tag, since the model's template contains it. */
  unopened: boolean;
}

interface Sink {
  say(kind: "text" | "reasoning", text: string): void;
  /** Reports that the text so far was thoughts. */
  retract(): void;
}

/**
 * Separates thoughts from text, for servers that send them at the beginning of the text as `<think>…</think>`. Only a
 * block there counts, since a later one may be what the text is about. If a closing `</think>` has no opening tag, all
 * text before it is thoughts too. In the first such reply of a model, that text was sent already. In later replies the
 * beginning is held back as thoughts until `</think>`, and becomes text if there is none.
 */
export class ThoughtsInText {
  readonly #sink: Sink;
  readonly #habit: Habit;
  #at: "start" | "opened" | "thoughts" | "presumed" | "text" | "closed" = "start";
  #closing = "";
  /** The end of the text so far, held back because it may begin a tag. */
  #held = "";
  /** The last character that was sent. */
  #last = "";
  #presumed = "";

  constructor(sink: Sink, habit: Habit) {
    this.#sink = sink;
    this.#habit = habit;
  }

  /** Reads a piece of the text. Returns false when all further pieces are text. */
  take(piece: string): boolean {
    let text = this.#held + piece;
    this.#held = "";
    if (this.#at === "start") {
      const rest = text.trimStart();
      const opening = openings.find((tag) => rest.startsWith(tag));
      if (opening === undefined && openings.some((tag) => tag.startsWith(rest))) {
        this.#say("text", text.slice(0, text.length - rest.length));
        this.#held = rest;
        return true;
      }
      if (opening === undefined) this.#at = this.#habit.unopened ? "presumed" : "text";
      else {
        this.#say("text", text.slice(0, text.length - rest.length));
        this.#at = "opened";
        this.#closing = opening.replace("<", "</");
        text = rest.slice(opening.length);
      }
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
    if (this.#at === "text") return this.#text(text);
    if (this.#at === "presumed") return this.#presume(text);
    return this.#at === "closed" ? this.#close(text) : true;
  }

  /** Sends the text that was held back, since it is no tag. */
  flush(): void {
    const held = this.#held;
    this.#held = "";
    if (this.#at === "presumed") {
      // The text that was held back was no thoughts.
      this.#habit.unopened = false;
      this.#at = "text";
    }
    this.#say(this.#at === "thoughts" ? "reasoning" : "text", this.#presumed + held);
    this.#presumed = "";
  }

  #text(text: string): boolean {
    const found = text.includes("<") ? tag.exec(text) : null;
    if (!found) return this.#hold("text", text);
    const before = text.slice(0, found.index);
    // A block in the middle of the text, or a quoted tag, is text.
    if (found[1] === "" || /["'`]$/.test(this.#last + before)) {
      this.#say("text", text);
      return false;
    }
    this.#say("text", before);
    this.#sink.retract();
    this.#habit.unopened = true;
    this.#at = "closed";
    return this.#close(text.slice(found.index + found[0].length));
  }

  #presume(text: string): boolean {
    const found = /<\/think(?:ing)?>/.exec(text);
    const thoughts = found ? text.slice(0, found.index) : text;
    if (!found) {
      this.#hold("reasoning", thoughts);
      this.#presumed += thoughts.slice(0, thoughts.length - this.#held.length);
      return true;
    }
    this.#say("reasoning", thoughts);
    this.#presumed = "";
    this.#at = "closed";
    return this.#close(text.slice(found.index + found[0].length));
  }

  /** Reads the text after the thoughts. */
  #close(piece: string): boolean {
    const text = piece.trimStart();
    this.#say("text", text);
    return text === "";
  }

  #hold(kind: "text" | "reasoning", text: string): true {
    const held = text.includes("<") ? Math.max(...tags.map((tag) => overlap(text, tag))) : 0;
    this.#say(kind, text.slice(0, text.length - held));
    this.#held = text.slice(text.length - held);
    return true;
  }

  #say(kind: "text" | "reasoning", text: string): void {
    if (text === "") return;
    this.#last = text.slice(-1);
    this.#sink.say(kind, text);
  }
}

/** How much of the end of a text begins a tag, in UTF-16 units. */
function overlap(text: string, tag: string): number {
  let length = Math.min(text.length, tag.length - 1);
  while (length > 0 && !text.endsWith(tag.slice(0, length))) length -= 1;
  return length;
}
