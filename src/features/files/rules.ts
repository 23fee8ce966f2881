import { rasterType } from "../../core/image.ts";
import type { S3Bucket } from "../../core/s3.ts";
import { clip, storable } from "../../core/text.ts";

/** In bytes. */
export const longestFile = 20 * 1024 * 1024;

const longestName = 200;

/** What steers a terminal, or turns the writing of a name around. */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** The last part of what somebody calls a file, fit to be stored and shown. */
export function fileName(given: string): string {
  const parts = storable(given.replaceAll(steering, ""))
    .split(/[/\\]/)
    .map((part) => part.trim())
    .filter((part) => !/^\.{0,2}$/.test(part));
  return shorten(parts.at(-1) ?? "file");
}

/** Keeps the extension, by which people and programs know what a file is. */
function shorten(name: string): string {
  if (name.length <= longestName) return name;
  const [extension = ""] = /\.[A-Za-z0-9]{1,16}$/.exec(name) ?? [];
  return clip(name, longestName - extension.length) + extension;
}

const unknownType = "application/octet-stream";
const mediaType = /^(application|audio|font|message|model|text|video)\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** What a file is: a picture by its content alone; anything else what it is said to be, if that is no picture. */
export function contentType(bytes: Uint8Array, claimed: string): string {
  const raster = rasterType(bytes);
  if (raster) return raster;
  const type = claimed.split(";")[0]?.trim().toLowerCase() ?? "";
  return mediaType.test(type) ? type : unknownType;
}

const rasters: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/** Whether it is a picture that can carry no script. */
export const isRaster = (mime: string) => rasters.has(mime);

/** `Content-Disposition`: only pictures are shown in place, all else is saved. The name as RFC 8187 writes it. */
export function disposition(mime: string, name: string): string {
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${isRaster(mime) ? "inline" : "attachment"}; filename*=UTF-8''${encoded}`;
}

/** Beneath it lie the engine's objects in a bucket that others may use too. */
const prefix = "agent-engine/";

type Place = Pick<S3Bucket, "region" | "bucket">;

/** Where an object lies, with its bucket: the agent may name another one for later files. */
export function s3Key({ region, bucket }: Place, fileId: string): string {
  return `${region}/${bucket}/${prefix}${fileId}`;
}

/** The same, read back. */
export function readS3Key(storageKey: string): Place & { key: string } {
  const [, region, bucket, key] = /^([^/]+)\/([^/]+)\/(.+)$/.exec(storageKey) ?? [];
  if (!region || !bucket || !key) throw new Error("A file has no place in S3");
  return { region, bucket, key };
}

/** Where a file is read. */
export const fileAddress = (id: string) => `/api/files/${id}`;
