import { clip } from "../../../core/text/text.ts";
import { fileName, seenImages } from "../../files/index.ts";

/** A file of a message, as the messenger describes it. */
export interface TellableFile {
  name: string;
  mime: string;
  /** Whether it belongs to a quoted message. */
  isQuoted?: boolean | undefined;
}

/** The text of a plain-text document, or its beginning. */
export interface DocumentText {
  text: string;
  isWhole: boolean;
}

/** The result of loading a file. */
export type Fate =
  /** The file became an attachment. */
  | { kind: "stored"; id: string; mime: string; size: number; document?: DocumentText }
  | { kind: "too-large" }
  | { kind: "failed" }
  /** The stored files of the agent, or of the sender, use all allowed space. */
  | { kind: "no-space"; of: "agent" | "user" }
  /** The messages have more files than a turn takes. */
  | { kind: "left-out" }
  /** The agent accepts no attachments. */
  | { kind: "refused" };

/**
 * The longest document, and the most of all documents, in UTF-16 units. Their texts become part of the transcript,
 * which later turns read again.
 */
const [longestDocument, mostOfDocuments] = [32_000, 96_000];

/** Media types of text that do not begin with `text/`. */
const textTypes = /^application\/(json|xml|yaml|x-yaml|toml|x-ndjson|sql)$/;

/** The text of a plain-text document; null for other files and for bytes that are no UTF-8. */
export function documentText(bytes: Uint8Array, mime: string): DocumentText | null {
  if (!(mime.startsWith("text/") || textTypes.test(mime)) || mime === "text/html") return null;
  const head = bytes.subarray(0, 4 * longestDocument);
  try {
    // The bytes may end inside a character: in stream mode the decoder waits for its rest.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: head.length < bytes.length });
    if (text.includes("\u0000")) return null;
    return {
      text: clip(text, longestDocument),
      isWhole: head.length === bytes.length && text.length <= longestDocument,
    };
  } catch {
    return null;
  }
}

/**
 * Adds notes about files, for the model, to the texts of messages, in order. `files` has one list for each message. A
 * document's text follows its note, as long as the limit of all documents allows.
 */
export function withFileWords(
  messages: readonly { text: string; files: readonly (TellableFile & { fate: Fate })[] }[],
): string[] {
  const stored = messages.flatMap(({ files }) => files.map(({ fate }) => fate)).filter(({ kind }) => kind === "stored");
  const seen = new Set(seenImages(stored as Extract<Fate, { kind: "stored" }>[]).map(({ id }) => id));
  let room = mostOfDocuments;
  const wordsOf = ({ fate, ...file }: TellableFile & { fate: Fate }): string => {
    const document = fate.kind === "stored" ? fate.document : undefined;
    if (!document) return `[${sentence(file, fate, seen)}]`;
    const [name, { text, isWhole }] = [fileName(file.name), document];
    const which = file.isQuoted ? "quoted document" : "document";
    if (text.length > room) return `[The ${which} ${name} came, but it is too long to be read with the others.]`;
    room -= text.length;
    return `[The ${which} ${name} ${isWhole ? "says" : "is long and begins"}:]\n${text}\n[The end of ${name}.]`;
  };
  return messages.map(({ text, files }) => [text, ...files.map(wordsOf)].filter((part) => part !== "").join("\n\n"));
}

function sentence(file: TellableFile, fate: Fate, seen: ReadonlySet<string>): string {
  const name = fileName(file.name);
  const plain = kindOf(fate.kind === "stored" ? fate.mime : file.mime);
  const kind = file.isQuoted ? `quoted ${plain}` : plain;
  switch (fate.kind) {
    case "refused":
      return `A ${kind} came, but this agent takes no files.`;
    case "too-large":
      return `The ${kind} ${name} is too large to be loaded.`;
    case "failed":
      return `The ${kind} ${name} could not be loaded.`;
    case "no-space":
      return `The ${kind} ${name} was not taken: ${fullOf[fate.of]}.`;
    case "left-out":
      return `The ${kind} ${name} was left out: too many files came at once.`;
    case "stored":
      if (seen.has(fate.id)) return `A ${kind} came: ${name}.`;
      return `A ${kind} came: ${name}. You can't ${verbs[plain]} it.`;
  }
}

const fullOf = {
  agent: "the files of this agent have all the space they may have",
  user: "the files of this person or group have all the space they may have",
} as const;

const verbs = { picture: "see", recording: "hear", video: "see", file: "read" } as const;

function kindOf(mime: string): keyof typeof verbs {
  if (mime.startsWith("image/")) return "picture";
  if (mime.startsWith("audio/")) return "recording";
  return mime.startsWith("video/") ? "video" : "file";
}
