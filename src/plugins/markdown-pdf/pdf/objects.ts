// The objects of a PDF as text, and the file around them (ISO 32000-1, §7).

export type ObjectId = number;

export const ref = (id: ObjectId): string => `${id} 0 R`;

export const dict = (entries: Readonly<Record<string, string | number>>): string =>
  `<< ${Object.entries(entries)
    .map(([key, value]) => `/${key} ${value}`)
    .join(" ")} >>`;

export const array = (values: readonly (string | number)[]): string => `[${values.join(" ")}]`;

/** Text for people, in UTF-16 with its mark; a half of a surrogate pair becomes U+FFFD. */
export function textString(text: string): string {
  const units = [...text.toWellFormed()].flatMap((character) =>
    Array.from({ length: character.length }, (_, i) => character.charCodeAt(i)),
  );
  return `<FEFF${units.map((unit) => unit.toString(16).padStart(4, "0")).join("")}>`;
}

/** Bytes of ASCII, such as an address. */
export const byteString = (ascii: string): string => `(${ascii.replace(/[\\()]/g, "\\$&")})`;

/** A time in UTC. */
export const dateString = (ms: number): string =>
  byteString(`D:${new Date(ms).toISOString().replace(/\D/g, "").slice(0, 14)}Z`);

/** A number as PDF has them, without an exponent, to a thousandth. */
export const decimal = (value: number): string => String(Math.round(value * 1000) / 1000);

/** Gathers the objects of a file, each under a number that may be given away before the object is written. */
export class ObjectFile {
  readonly #parts: Uint8Array[] = [];
  readonly #offsets: number[] = [];
  #length = 0;

  constructor() {
    // The second line has bytes above 127, so that nobody takes the file for text.
    this.#append(new Uint8Array([...encode("%PDF-1.7\n%"), 0xe2, 0xe3, 0xcf, 0xd3, 0x0a]));
  }

  reserve(): ObjectId {
    return this.#offsets.push(0);
  }

  put(id: ObjectId, body: string): ObjectId {
    this.#offsets[id - 1] = this.#length;
    this.#append(encode(`${id} 0 obj\n${body}\nendobj\n`));
    return id;
  }

  add(body: string): ObjectId {
    return this.put(this.reserve(), body);
  }

  /** A stream of `bytes` as they are; `entries` names their filter, where they have one. */
  putStream(id: ObjectId, entries: Readonly<Record<string, string | number>>, bytes: Uint8Array): ObjectId {
    this.#offsets[id - 1] = this.#length;
    this.#append(encode(`${id} 0 obj\n${dict({ ...entries, Length: bytes.length })}\nstream\n`));
    this.#append(bytes);
    this.#append(encode("\nendstream\nendobj\n"));
    return id;
  }

  async addCompressed(
    bytes: Uint8Array<ArrayBuffer>,
    entries: Readonly<Record<string, string | number>> = {},
  ): Promise<ObjectId> {
    const id = this.reserve();
    return this.putStream(id, { ...entries, Filter: "/FlateDecode" }, await deflate(bytes));
  }

  finish({ root, info }: { root: ObjectId; info: ObjectId }): Uint8Array<ArrayBuffer> {
    const start = this.#length;
    const lines = this.#offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
    const size = this.#offsets.length + 1;
    this.#append(encode(`xref\n0 ${size}\n0000000000 65535 f \n${lines.join("")}`));
    this.#append(
      encode(`trailer\n${dict({ Size: size, Root: ref(root), Info: ref(info) })}\nstartxref\n${start}\n%%EOF\n`),
    );
    return joined(this.#parts, this.#length);
  }

  #append(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#length += bytes.length;
  }
}

export const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** In the form that FlateDecode reads. The platform does it beside this thread. */
export const deflate = (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
  drained(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate")));

/** All bytes of a stream. Throws as soon as there are more than `most`. */
export async function drained(
  stream: ReadableStream<Uint8Array>,
  most = Number.POSITIVE_INFINITY,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    length += part.length;
    if (length > most) throw new Error("There is more data than announced");
    parts.push(part);
  }
  return joined(parts, length);
}

export function joined(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
