import { Inflate, inflateSync } from "fflate";
import { EngineError } from "../../../core/errors.ts";
import { joinBytes } from "../../../core/files/read-bytes.ts";
import { importLimit } from "./schema.ts";
import { damaged, readDirectory, refuseArchive, storedBytes, type ZipEntry } from "./zip-directory.ts";

/**
 * From this size on, in bytes, an archive that unpacks to more than a hundred times its size is hostile: no written
 * text compresses so well.
 */
const ratioFrom = 256 * 1024;
const maxRatio = 100;

/**
 * How many bytes are inflated at a time. Deflate makes at most 1032 bytes of one, so each step yields little, whatever
 * size the archive claims.
 */
const step = 2048;

/** Unpacks a zip archive; returns files by path. Throws the 400 for a hostile or damaged one, as early as possible. */
export function unzip(bytes: Uint8Array): Map<string, Uint8Array> {
  const entries = readDirectory(bytes);
  // The claimed sizes are enough to refuse most hostile archives at once. The real sizes are counted below.
  new Budget(bytes.length).spend(entries.reduce((sum, { size }) => sum + size, 0));
  const budget = new Budget(bytes.length);
  return new Map(entries.map((entry) => [entry.path, unpack(storedBytes(bytes, entry), entry, budget)]));
}

/** Counts the unpacked bytes of an archive, up to its limits. */
class Budget {
  readonly #packed: number;
  #spent = 0;

  constructor(packed: number) {
    this.#packed = packed;
  }

  spend(bytes: number): void {
    this.#spent += bytes;
    if (this.#spent > importLimit) throw refuseArchive(`it unpacks to more than ${importLimit} bytes`);
    if (this.#spent > ratioFrom && this.#spent > this.#packed * maxRatio) {
      throw refuseArchive(`it unpacks to more than ${maxRatio} times its size`);
    }
  }
}

function unpack(packed: Uint8Array, { deflated, size }: ZipEntry, budget: Budget): Uint8Array {
  if (!deflated) {
    budget.spend(packed.length);
    if (packed.length !== size) throw damaged();
    return packed;
  }
  const whole = (packed.length <= step && inflateShort(packed, size, budget)) || inflateLong(packed, budget);
  if (whole.length !== size) throw damaged();
  return whole;
}

/** Inflates a small file at once, without a large buffer; null when the size differs from the claimed one. */
function inflateShort(packed: Uint8Array, size: number, budget: Budget): Uint8Array | null {
  // With one extra byte, a file that is too long is noticed.
  const whole = unlessDamaged(() => inflateSync(packed, { out: new Uint8Array(size + 1) }));
  if (whole.length !== size) return null;
  budget.spend(size);
  return whole;
}

function inflateLong(packed: Uint8Array, budget: Budget): Uint8Array {
  const chunks: Uint8Array[] = [];
  const inflate = new Inflate((chunk) => {
    budget.spend(chunk.length);
    chunks.push(chunk);
  });
  for (let at = 0; at === 0 || at < packed.length; at += step) {
    unlessDamaged(() => inflate.push(packed.subarray(at, at + step), at + step >= packed.length));
  }
  return joinBytes(chunks);
}

function unlessDamaged<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof EngineError ? error : damaged();
  }
}
