import type { PDFDocument, PdfReference } from "pdfkit";

/** An image as a PDF holds it. */
export interface PictureData {
  /** In pixels. */
  width: number;
  height: number;
  /** The entries of its dictionary beside its size: PDFKit writes strings as names. */
  entries: Readonly<Record<string, unknown>>;
  bytes: Uint8Array<ArrayBuffer>;
  /** The opacity of each pixel, compressed; null when all are opaque. */
  mask: { bits: number; bytes: Uint8Array<ArrayBuffer> } | null;
}

/** An image of a document, with a name that no other image of it has. */
export interface Picture extends PictureData {
  name: string;
}

/** Writes an image into the file, after its mask. */
export function embedPicture(document: PDFDocument, { width, height, entries, bytes, mask }: Picture): PdfReference {
  const embed = (own: Readonly<Record<string, unknown>>, stream: Uint8Array<ArrayBuffer>) => {
    const image = document.ref({ Type: "XObject", Subtype: "Image", Width: width, Height: height, ...own });
    image.end(stream);
    return image;
  };
  if (!mask) return embed(entries, bytes);
  const gray = { ColorSpace: "DeviceGray", BitsPerComponent: mask.bits, Filter: "FlateDecode" };
  return embed({ ...entries, SMask: embed(gray, mask.bytes) }, bytes);
}
