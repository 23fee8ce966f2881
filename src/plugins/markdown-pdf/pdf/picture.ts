import type { PDFDocument, PdfReference } from "pdfkit";

/** An image in the form that PDF stores. */
export interface PictureData {
  /** In pixels. */
  width: number;
  height: number;
  /** Entries of the image's dictionary, except its size. PDFKit writes strings as names. */
  entries: Readonly<Record<string, unknown>>;
  bytes: Uint8Array<ArrayBuffer>;
  /** The opacity of each pixel, compressed; null for an opaque image. */
  mask: { bits: number; bytes: Uint8Array<ArrayBuffer> } | null;
}

/** An image of a document, with a unique name. */
export interface Picture extends PictureData {
  name: string;
}

/** Writes an image, and before it its mask, into the file. */
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
