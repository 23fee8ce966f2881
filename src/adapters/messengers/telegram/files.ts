import type { IncomingFile } from "../../../core/channels/messengers.ts";
import type { JsonObject } from "../../../core/json.ts";
import { storable } from "../../../core/text/text.ts";
import { fileNameOf, integerOf, listOf, mimeOf, objectOf, sizeOf, textOf } from "../fields.ts";

/** The most bytes that a bot can download. */
export const mostBytes = 20 * 1024 * 1024;

const media = [
  // Telegram sends an animation as a document, too.
  { key: "document", name: "document", mime: "application/octet-stream" },
  { key: "voice", name: "voice.ogg", mime: "audio/ogg" },
  { key: "audio", name: "audio.mp3", mime: "audio/mpeg" },
  { key: "video", name: "video.mp4", mime: "video/mp4" },
  { key: "video_note", name: "video.mp4", mime: "video/mp4" },
];

/** The files of a message, or of one that it quotes. */
export function filesOf(message: JsonObject): IncomingFile[] {
  const found = media.map(({ key, name, mime }) => fileOf(objectOf(message[key]), name, mime));
  return [photoOf(message.photo), ...found].filter((file) => file !== null);
}

/** The largest version of a photo that bots can download. */
function photoOf(value: unknown): IncomingFile | null {
  const area = ({ width, height }: JsonObject) => (integerOf(width) ?? 0) * (integerOf(height) ?? 0);
  const sizes = listOf(value)
    .map(objectOf)
    .filter(({ file_size }) => (integerOf(file_size) ?? 0) <= mostBytes)
    .sort((a, b) => area(b) - area(a));
  return fileOf(sizes[0] ?? {}, "photo.jpg", "image/jpeg");
}

function fileOf(file: JsonObject, name: string, mime: string): IncomingFile | null {
  const ref = textOf(file.file_id);
  if (ref === "" || storable(ref) !== ref) return null;
  return {
    ref,
    lastingId: storable(textOf(file.file_unique_id)) || undefined,
    name: fileNameOf(file.file_name, name),
    mime: mimeOf(file.mime_type, mime),
    size: sizeOf(file.file_size),
  };
}
