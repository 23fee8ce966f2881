/** One file of an archive, and the fields of its headers, which are true by default. */
export interface ZipFile {
  path: string | Uint8Array;
  /** The packed bytes. */
  packed: Uint8Array;
  /** 0 is stored, 8 deflated. */
  method?: number;
  size?: number;
  flags?: number;
  /** Unix mode. */
  mode?: number;
  /** Whether it shares the bytes of the first file, as in a bomb of overlapping files. */
  overlapping?: boolean;
}

const utf8 = new TextEncoder();

/** A record of little-endian fields `[width, value]` and bytes. */
function record(...fields: ([2 | 4, number] | Uint8Array)[]): Uint8Array {
  const parts = fields.map((field) => {
    if (field instanceof Uint8Array) return field;
    const [width, value] = field;
    return Uint8Array.from({ length: width }, (_, index) => (value >>> (8 * index)) & 0xff);
  });
  return concat(parts);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A zip archive made by hand, so that its headers can be wrong. */
export function writeZip(
  files: readonly ZipFile[],
  end: { count?: number; comment?: string } = {},
): Uint8Array<ArrayBuffer> {
  const locals: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { path, packed, method = 0, size = packed.length, flags = 0x800, mode = 0o100644, overlapping } of files) {
    const name = typeof path === "string" ? utf8.encode(path) : path;
    const common: [2 | 4, number][] = [
      [2, 20],
      [2, flags],
      [2, method],
      [4, 0],
      [4, 0],
      [4, packed.length],
      [4, size],
    ];
    const at = overlapping ? 0 : offset;
    directory.push(
      record(
        [4, 0x02014b50],
        [2, 0x0314],
        ...common,
        [2, name.length],
        [2, 0],
        [2, 0],
        [2, 0],
        [2, 0],
        [4, mode << 16],
        [4, at],
        name,
      ),
    );
    if (overlapping) continue;
    const local = record([4, 0x04034b50], ...common, [2, name.length], [2, 0], name, packed);
    locals.push(local);
    offset += local.length;
  }
  const central = concat(directory);
  const comment = utf8.encode(end.comment ?? "");
  const count = end.count ?? files.length;
  const last = record(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, central.length],
    [4, offset],
    [2, comment.length],
    comment,
  );
  return new Uint8Array(concat([...locals, central, last]));
}
