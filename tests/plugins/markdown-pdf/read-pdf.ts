import { getDocumentProxy, getResolvedPDFJS } from "unpdf";
import { readFont } from "../../../src/adapters/node/fonts.ts";
import { makePdf } from "../../../src/plugins/markdown-pdf/create.ts";
import type { PdfOrder } from "../../../src/plugins/markdown-pdf/order.ts";

/** The time at which all documents are made. */
const madeAt = Date.parse("2026-11-23T10:00:00Z");

/** Makes a PDF as the tool does. */
export const made = (order: PdfOrder | string, signal = new AbortController().signal) =>
  makePdf(typeof order === "string" ? { markdown: order } : order, { signal, now: () => madeAt, readFont });

/** Makes a PDF and reads it with PDF.js. */
export const readBack = async (order: PdfOrder | string) => {
  const document = await made(order);
  return { ...document, ...(await readPdf(document.bytes)) };
};

interface OutlineItem {
  title: string;
  items: OutlineItem[];
  /** From 1. */
  page: number;
}

/** The contents of a file, as read by PDF.js. */
export async function readPdf(bytes: Uint8Array<ArrayBuffer>) {
  const pdf = await getDocumentProxy(bytes.slice());
  const numbers = Array.from({ length: pdf.numPages }, (_, index) => index + 1);
  const pages = await Promise.all(numbers.map((number) => pdf.getPage(number)));
  const pageOf = async (destination: unknown): Promise<number> => {
    if (typeof destination === "string") return pageOf(await pdf.getDestination(destination));
    return Array.isArray(destination) ? (await pdf.getPageIndex(destination[0])) + 1 : 0;
  };
  const outline = async (items: Awaited<ReturnType<typeof pdf.getOutline>>): Promise<OutlineItem[]> =>
    Promise.all(
      (items ?? []).map(async ({ title, items: inner, dest }) => ({
        title,
        items: await outline(inner),
        page: await pageOf(dest),
      })),
    );
  const { OPS } = await getResolvedPDFJS();
  return {
    sizes: pages.map((page) => page.view.slice(2)),
    /** The text of each page, a line for each of its lines. */
    texts: await Promise.all(
      pages.map(async (page) => {
        const { items } = await page.getTextContent();
        return items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
      }),
    ),
    /** How far from the left each piece of text begins, in points. */
    starts: await Promise.all(
      pages.map(async (page) => {
        const { items } = await page.getTextContent();
        return Object.fromEntries(
          items.flatMap((item) => ("str" in item ? [[item.str, item.transform[4] as number]] : [])),
        );
      }),
    ),
    /** The slant of each piece of text to the right, in thousandths of its height. */
    slants: await Promise.all(
      pages.map(async (page) => {
        const { items } = await page.getTextContent();
        return Object.fromEntries(
          items.flatMap((item) =>
            "str" in item ? [[item.str, Math.round((item.transform[2] / item.transform[3]) * 1000)]] : [],
          ),
        );
      }),
    ),
    links: await Promise.all(
      pages.map(async (page) =>
        Promise.all(
          (await page.getAnnotations()).map(async ({ url, dest, rect }) => ({ url, page: await pageOf(dest), rect })),
        ),
      ),
    ),
    /** The sizes of the images of each page, in pixels. */
    images: await Promise.all(
      pages.map(async (page) => {
        const { fnArray, argsArray } = await page.getOperatorList();
        return fnArray.flatMap((operator, index) =>
          operator === OPS.paintImageXObject ? [argsArray[index].slice(1)] : [],
        );
      }),
    ),
    /** The fonts and sizes in which each page has text. */
    fonts: await Promise.all(
      pages.map(async (page) => {
        const { fnArray, argsArray } = await page.getOperatorList();
        const ids = fnArray.flatMap((operator, index) => (operator === OPS.setFont ? [argsArray[index][0]] : []));
        return [...new Set(ids.map((id) => page.commonObjs.get(id).name as string))];
      }),
    ),
    outline: await outline(await pdf.getOutline()),
    metadata: (await pdf.getMetadata()).info as Record<string, unknown>,
  };
}
