import type { LanguageModelV4FilePart } from "@ai-sdk/provider";
import { and, eq, inArray } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { withinTime } from "../../core/time/deadline.ts";
import { files } from "../../db/schema.ts";
import { isRaster } from "./rules.ts";
import { readFile } from "./storage.ts";

/** The largest image for a model, in bytes; no provider accepts larger ones. */
const longestImage = 5 * 1024 * 1024;

const mostImages = 8;

/** How long a turn waits for a picture, in milliseconds. */
const patienceMs = 25_000;

/** The files that a model with image input gets: the first 8 pictures of at most 5 MB each. */
export function seenImages<File extends { mime: string; size: number }>(files: readonly File[]): File[] {
  return files.filter(({ mime, size }) => isRaster(mime) && size <= longestImage).slice(0, mostImages);
}

/** The files of a conversation's new messages, in the order of the messages. */
export interface FreshFiles {
  conversationId: string;
  fileIds: readonly string[];
}

/**
 * Converts the pictures among files (`seenImages`) to parts of a message for a model with image input. Unreadable ones
 * are omitted, so that they do not fail the turn.
 */
export async function imageParts(services: Services, fresh: FreshFiles) {
  const parts = (await findImages(services, fresh)).map((image) => toPart(services, image));
  return (await Promise.all(parts)).filter((part) => part !== null);
}

/** The total bytes of the pictures in `imageParts`. */
export async function imageBytes(services: Services, fresh: FreshFiles): Promise<number> {
  return (await findImages(services, fresh)).reduce((sum, { size }) => sum + size, 0);
}

async function findImages({ database }: Services, { conversationId, fileIds }: FreshFiles) {
  if (fileIds.length === 0) return [];
  const rows = await database.db
    .select()
    .from(files)
    .where(and(eq(files.conversationId, conversationId), eq(files.status, "stored"), inArray(files.id, [...fileIds])));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return seenImages(fileIds.flatMap((id) => byId.get(id) ?? []));
}

async function toPart(services: Services, file: typeof files.$inferSelect): Promise<LanguageModelV4FilePart | null> {
  const tooLate = new Error(`It took longer than ${patienceMs / 1000} seconds`);
  try {
    const data = await withinTime(services.clock, patienceMs, tooLate, async (signal) => {
      const stream = await readFile(services, file);
      if (!stream) return null;
      const bytes = stream.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal });
      return new Uint8Array(await new Response(bytes).arrayBuffer());
    });
    if (!data) return null;
    return { type: "file", filename: file.name, mediaType: file.mime, data: { type: "data", data } };
  } catch (err) {
    services.log.warn({ fileId: file.id, err }, "A picture could not be read for the model");
    return null;
  }
}
