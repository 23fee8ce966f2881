import type { Incoming, IncomingFile } from "../../../core/channels/messengers.ts";
import { storable } from "../../../core/text/text.ts";
import { mimeOf, nameOf } from "../fields.ts";

/** A phone number, or the id of a person who hides it (`US.13491208655302741918`). */
const person = /^whatsapp:(\+\d{5,20}|[A-Z]{2}\.[A-Za-z0-9.]{1,140})$/;

/**
 * The message in the parameters of a webhook (https://www.twilio.com/docs/messaging/guides/webhook-request); null when
 * it is none for this number, such as the status of a message of ours.
 */
export function readForm(form: URLSearchParams, whatsappNumber: string): Incoming | null {
  const id = form.get("MessageSid") ?? "";
  const sender = person.exec(form.get("From") ?? "")?.[1];
  if (!/^[A-Z]{2}[0-9a-fA-F]{32}$/.test(id) || !sender || form.get("To") !== `whatsapp:${whatsappNumber}`) return null;
  const said = form.get("Body")?.trim() || form.get("ButtonText")?.trim() || placeOf(form);
  const [text, files] = [storable(said), filesOf(form)];
  if (text === "" && files.length === 0) return null;
  const senderName = nameOf(form.get("ProfileName"));
  return { providerId: id, channelId: sender, sender, senderName, isPrivate: true, text, files, edits: null };
}

function placeOf(form: URLSearchParams): string {
  const [latitude, longitude] = [form.get("Latitude") ?? "", form.get("Longitude") ?? ""];
  if (![latitude, longitude].every((degrees) => /^-?\d{1,3}(\.\d{1,20})?$/.test(degrees))) return "";
  const names = [nameOf(form.get("Label")), nameOf(form.get("Address"))].filter((part) => part !== null);
  return `Location: ${[...names, `${latitude}, ${longitude}`].join(", ")}`;
}

/** Twilio sends at most 10. */
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

/** Twilio does not tell a file's own name. */
function fileName(mime: string, index: number): string {
  const [kind = "", subtype = ""] = mime.split("/");
  const name = kind === "application" || kind === "text" ? "document" : kind;
  return `${name}${index === 0 ? "" : `-${index + 1}`}.${endings[subtype] ?? subtype.replaceAll(/[^a-z0-9]/g, "")}`;
}
