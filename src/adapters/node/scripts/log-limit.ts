const mostTexts = 1_000;
const mostBytes = 64 * 1024;

const cutNote = "[cut: of a log, the first 64 KiB and 1,000 lines are kept]";

/** Passes the log texts of a script to `write`: up to the limit, then a note, then nothing. */
export function limitLog(write: (text: string) => void): (text: string) => void {
  let texts = 0;
  let bytes = 0;
  let cut = false;
  return (text) => {
    if (cut) return;
    const size = Buffer.byteLength(text);
    const room = texts < mostTexts ? mostBytes - bytes : 0;
    cut = texts === mostTexts || size > room;
    if (!cut) write(text);
    else if (room > 0) write(firstBytes(text, room));
    if (cut) write(cutNote);
    texts += 1;
    bytes += size;
  };
}

/** The beginning of a text: at most this many bytes of UTF-8, without a part of a character at the end. */
function firstBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}
