import { EngineError } from "../../../core/errors.ts";

const maxParts = 16;
const maxHeader = 8192;

/**
 * The file in the field `file` of a form. Reads no further than that field, and at most 16 parts, since the platform's
 * own reader would make objects of any number of parts and headers. Throws the 400.
 */
export function readFormFile(contentType: string, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const delimiter = delimiterOf(contentType);
  // Latin-1 has one character for each byte.
  const text = new TextDecoder("latin1").decode(bytes);
  let at = text.startsWith(delimiter) ? 0 : text.indexOf(`\r\n${delimiter}`) + 2;
  if (at === 1) throw noForm();
  for (let part = 0; part < maxParts; part += 1) {
    const begin = at + delimiter.length;
    if (text.startsWith("--", begin)) throw noFile();
    const head = readHead(text, begin);
    const end = text.indexOf(`\r\n${delimiter}`, head.end);
    if (end < 0) throw noForm();
    if (isField(head.text)) {
      if (!/;\s*filename\*?=/i.test(head.text)) throw noFile();
      return bytes.subarray(head.end, end);
    }
    at = end + 2;
  }
  throw new EngineError("bad-request", `file: must be among the first ${maxParts} fields of the form`);
}

/** The line that comes before each part (RFC 2046 §5.1.1). */
function delimiterOf(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"\\]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw noForm();
  return `--${boundary}`;
}

/** The header lines of a part, and the beginning of its content. */
function readHead(text: string, begin: number): { text: string; end: number } {
  const head = text.slice(begin, begin + maxHeader);
  const length = head.indexOf("\r\n\r\n");
  if (length < 0 || !/^[ \t]*\r\n/.test(head)) throw noForm();
  return { text: head.slice(0, length), end: begin + length + 4 };
}

const isField = (head: string) =>
  /^content-disposition:\s*form-data\s*;(?:[^\r\n]*;)?\s*name="?file"?\s*(?:;|$)/im.test(head);

const noForm = () => new EngineError("bad-request", "The body is not valid multipart/form-data");
const noFile = () => new EngineError("bad-request", "file: must be a zip archive, sent as a file");
