import { rasterType } from "../../core/files/image.ts";
import type { S3Bucket } from "../../core/files/s3.ts";
import { isUuid } from "../../core/ids.ts";
import { clip, storable } from "../../core/text/text.ts";

/** The largest file, in bytes. */
export const longestFile = 20 * 1024 * 1024;

const longestName = 200;

/** Characters that control a terminal or change the direction of a text. */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** The last part of the sender's file name, made safe to store and show. */
export function fileName(given: string): string {
  const parts = storable(given.replaceAll(steering, ""))
    .split(/[/\\]/)
    .map((part) => part.trim())
    .filter((part) => !/^\.{0,2}$/.test(part));
  return shorten(parts.at(-1) ?? "file");
}

/** Shortens a name but keeps its extension, by which people and programs recognise the type. */
function shorten(name: string): string {
  if (name.length <= longestName) return name;
  const [extension = ""] = /\.[A-Za-z0-9]{1,16}$/.exec(name) ?? [];
  return clip(name, longestName - extension.length) + extension;
}

const unknownType = "application/octet-stream";
const mediaType = /^(application|audio|font|message|model|text|video)\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** The media type of a file: for a picture that of its content, else the claimed type unless that is a picture's. */
export function contentType(bytes: Uint8Array, claimed: string): string {
  const raster = rasterType(bytes);
  if (raster) return raster;
  const type = claimed.split(";")[0]?.trim().toLowerCase() ?? "";
  return mediaType.test(type) ? type : unknownType;
}

const rasters: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/** Whether the type is that of a picture that can't contain scripts. */
export const isRaster = (mime: string) => rasters.has(mime);

/** `Content-Disposition`: browsers show pictures, and save other files. The name is encoded as RFC 8187 requires. */
export function disposition(mime: string, name: string): string {
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${isRaster(mime) ? "inline" : "attachment"}; filename*=UTF-8''${encoded}`;
}

/** The prefix of all objects of the engine, since other programs may use the same bucket. */
const prefix = "agent-engine/";

type BucketLocation = Pick<S3Bucket, "region" | "bucket">;

/** The storage key of an object. It contains the bucket, because the agent may choose another bucket for later files. */
export function s3Key({ region, bucket }: BucketLocation, fileId: string): string {
  return `${region}/${bucket}/${prefix}${fileId}`;
}

/** The region, bucket and key in a storage key of `s3Key`. */
export function readS3Key(storageKey: string): BucketLocation & { key: string } {
  const [, region, bucket, key] = /^([^/]+)\/([^/]+)\/(.+)$/.exec(storageKey) ?? [];
  if (!region || !bucket || !key) throw new Error("A file has no place in S3");
  return { region, bucket, key };
}

/** The path that serves a file. */
export const fileAddress = (id: string) => `/api/files/${id}`;

/** How long a link is valid, in seconds. */
export const linkSeconds = 24 * 60 * 60;

/** The file and expiry of a link, with its signature. */
export interface Claim {
  id: string;
  /** Seconds since the epoch. */
  expires: number;
  /** The signature, in hexadecimal. */
  signature: string;
}

/** The path and query of a file's link. Anyone who has them can read the file. */
export const linkAddress = ({ id, expires, signature }: Claim) =>
  `/files/${id}?expires=${expires}&signature=${signature}`;

/** Parses a link of `linkAddress`; null for everything else, including other spellings of the same link. */
export function readLink({ id, expires, signature }: { [Field in keyof Claim]: string | undefined }): Claim | null {
  const wellFormed = /^\d{1,12}$/.test(expires ?? "") && /^[0-9a-f]{64}$/.test(signature ?? "");
  if (!wellFormed || id === undefined || signature === undefined) return null;
  const claim = { id, expires: Number(expires), signature };
  return isUuid(id) && String(claim.expires) === expires ? claim : null;
}
