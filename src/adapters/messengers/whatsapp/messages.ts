import type { Incoming, IncomingFile, Quote } from "../../../core/channels/messengers.ts";
import { clip, storable } from "../../../core/text/text.ts";
import { mimeOf, nameOf } from "../fields.ts";

/** A phone number, or the id of a person who hides it (`US.13491208655302741918`). */
const person = /^whatsapp:(\+\d{5,20}|[A-Z]{2}\.[A-Za-z0-9.]{1,140})$/;

const isMessageId = (id: string) => /^[A-Z]{2}[0-9a-fA-F]{32}$/.test(id);

/**
 * The message in a webhook's parameters (https://www.twilio.com/docs/messaging/guides/webhook-request); null when there
 * is none for this number, as in the status of a sent message.
 */
export function readForm(form: URLSearchParams, whatsappNumber: string): Incoming | null {
  const id = form.get("MessageSid") ?? "";
  const sender = person.exec(form.get("From") ?? "")?.[1];
  if (!isMessageId(id) || !sender || form.get("To") !== `whatsapp:${whatsappNumber}`) return null;
  const [words, files] = [wordsOf(form), filesOf(form)];
  if (words === "" && files.length === 0) return null;
  const isForward = [form.get("Forwarded"), form.get("FrequentlyForwarded")].includes("true");
  const forward = { kind: "forward", author: null, text: words, passage: null, messageId: null } as const;
  return {
    providerId: id,
    channelId: sender,
    sender,
    senderName: nameOf(form.get("ProfileName")),
    isPrivate: true,
    text: isForward ? "" : words,
    files,
    edits: null,
    album: null,
    quotes: [...repliedTo(form, whatsappNumber), ...(isForward ? [forward] : [])],
  };
}

const longestForm = 16_000;

/** The text of a message: typed, a chosen button or list item, a filled-in form, or a location. */
function wordsOf(form: URLSearchParams): string {
  const field = (name: string) => form.get(name)?.trim() ?? "";
  const choices = ["ButtonText", "ListTitle", "ButtonPayload", "ListId"].map(field);
  const choice = choices.find((words) => words !== "") ?? "";
  const filledIn = choice === "" ? clip(field("InteractiveData"), longestForm) : "";
  const said = [field("Body") || choice, filledIn === "" ? "" : `The answers in a form: ${filledIn}`];
  return storable(said.filter((words) => words !== "").join("\n") || placeOf(form));
}

/** The message to which this one replies. Twilio sends its id, but not its text. */
function repliedTo(form: URLSearchParams, whatsappNumber: string): Quote[] {
  const messageId = form.get("OriginalRepliedMessageSid") ?? "";
  if (!isMessageId(messageId)) return [];
  const author = form.get("OriginalRepliedMessageSender") === `whatsapp:${whatsappNumber}` ? "agent" : "sender";
  return [{ kind: "reply", author, text: "", passage: null, messageId }];
}

function placeOf(form: URLSearchParams): string {
  const [latitude, longitude] = [form.get("Latitude") ?? "", form.get("Longitude") ?? ""];
  if (![latitude, longitude].every((degrees) => /^-?\d{1,3}(\.\d{1,20})?$/.test(degrees))) return "";
  const names = [nameOf(form.get("Label")), nameOf(form.get("Address"))].filter((part) => part !== null);
  return `Location: ${[...names, `${latitude}, ${longitude}`].join(", ")}`;
}

/** The most files of a message at Twilio. */
const mostFiles = 10;

function filesOf(form: URLSearchParams): IncomingFile[] {
  const count = Math.min(Number(form.get("NumMedia") ?? 0) || 0, mostFiles);
  return Array.from({ length: Math.max(0, Math.trunc(count)) }, (_, index) => {
    const ref = storable(form.get(`MediaUrl${index}`) ?? "");
    const mime = mimeOf(form.get(`MediaContentType${index}`));
    return { ref, name: fileName(mime, index), mime, size: null };
  }).filter(({ ref }) => URL.canParse(ref));
}

const endings: Readonly<Record<string, string>> = {
  jpeg: "jpg",
  mpeg: "mp3",
  plain: "txt",
  "x-vcard": "vcf",
  vcard: "vcf",
  msword: "doc",
  "vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
  "octet-stream": "bin",
};

/** A file name made from the media type, since Twilio does not send the original name. */
function fileName(mime: string, index: number): string {
  const [kind = "", subtype = ""] = mime.split("/");
  const name = kind === "application" || kind === "text" ? "document" : kind;
  return `${name}${index === 0 ? "" : `-${index + 1}`}.${endings[subtype] ?? subtype.replaceAll(/[^a-z0-9]/g, "")}`;
}
