import { AwsV4Signer } from "aws4fetch";
import { EngineError, StorageRefusal } from "../core/errors.ts";
import { bucketAddress, type S3Bucket } from "../core/files/s3.ts";
import { toHex } from "../core/ids.ts";
import type { Clock, Files, ObjectLink, StoredObject } from "../core/ports.ts";
import { orAborted } from "../core/time/deadline.ts";
import { readExcerpt } from "./excerpt.ts";
import { wasNeverSent } from "./failed-fetch.ts";

interface Options {
  clock: Clock;
  /** The installation's own S3 service, without a trailing slash; Amazon's unless given. */
  endpoint?: string | undefined;
  fetch?: typeof globalThis.fetch;
}

interface ObjectRequest {
  method: "GET" | "PUT" | "DELETE";
  key: string;
  body?: Uint8Array<ArrayBuffer>;
  mime?: string;
}

interface Answer {
  response: Response;
  /** Ends the time limit. */
  relax(): void;
  /** Aborts the request, as its time limit would. */
  giveUp(): void;
}

/** The longest upload, and the longest silence during a download, in milliseconds. */
const timeoutMs = 120_000;

/** How many characters of an error's body are read. */
const errorLength = 4_096;

/** The buckets of Amazon S3 or a compatible service, with static keys (SigV4). */
export function createS3({ clock, endpoint, fetch = globalThis.fetch }: Options): Files["s3"] {
  return (bucket) => {
    const ask = async ({ method, key, body, mime }: ObjectRequest): Promise<Answer> => {
      const { url, headers } = await sign(bucket, { method, key, body, mime }, { clock, endpoint });
      const controller = new AbortController();
      const giveUp = () => controller.abort(new Error(`It took longer than ${timeoutMs / 1000} seconds`));
      const relax = clock.after(timeoutMs, giveUp);
      const { signal } = controller;
      // Not followed: a redirect would send the signed request elsewhere.
      const request = { method, headers, redirect: "manual", signal } as const;
      const answer = fetch(url, body === undefined ? request : { ...request, body });
      const response = await orAborted(answer, signal).catch((cause: unknown) => {
        const Failure = wasNeverSent(cause) ? StorageRefusal : EngineError;
        throw new Failure("provider-failed", "The file storage cannot be reached", { cause });
      });
      return { response, relax, giveUp };
    };

    /**
     * The bytes of a response. The time limit counts while the service is awaited, not while bytes wait for the reader.
     */
    const bytesOf = ({ response: { body }, relax, giveUp }: Answer): StoredObject["bytes"] => {
      relax();
      const reader = (body ?? new Blob([]).stream()).getReader();
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) => {
        const stop = clock.after(timeoutMs, giveUp);
        const { done, value } = await reader.read().finally(stop);
        if (done) controller.close();
        else controller.enqueue(value);
      };
      return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
    };

    return {
      async put(key, body, mime) {
        const { response } = await ask({ method: "PUT", key, body, mime });
        if (!response.ok) throw await refusal(response);
        discardBody(response);
      },
      async get(key) {
        const answer = await ask({ method: "GET", key });
        const { response } = answer;
        if (response.ok) return { bytes: bytesOf(answer), size: sizeOf(response) };
        const error = await refusal(response);
        if (response.status === 404) return null;
        throw error;
      },
      async delete(key) {
        const { response } = await ask({ method: "DELETE", key });
        if (!response.ok && response.status !== 404) throw await refusal(response);
        discardBody(response);
      },
      link: (key, link) => presign(bucket, { key, link }, { clock, endpoint }),
    };
  };
}

type UnsignedRequest = Omit<ObjectRequest, "body" | "mime"> & {
  body: ObjectRequest["body"] | undefined;
  mime: string | undefined;
};

async function sign(bucket: S3Bucket, { method, key, body, mime }: UnsignedRequest, { clock, endpoint }: Options) {
  const signer = new AwsV4Signer({
    ...credentials(bucket, clock),
    method,
    url: bucketAddress(bucket, endpoint) + key,
    headers: {
      "X-Amz-Content-Sha256": toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", body ?? new Uint8Array()))),
      ...(mime === undefined ? {} : { "Content-Type": mime }),
    },
  });
  return signer.sign();
}

/** The credentials that each signature needs. */
const credentials = ({ region, accessKeyId, secretAccessKey }: S3Bucket, clock: Clock) => ({
  service: "s3",
  region,
  accessKeyId,
  secretAccessKey,
  datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ""),
});

/** The address of an object, with a signature in the query. */
async function presign(
  bucket: S3Bucket,
  { key, link }: { key: string; link: ObjectLink },
  { clock, endpoint }: Options,
): Promise<string> {
  const url = new URL(bucketAddress(bucket, endpoint) + key);
  url.searchParams.set("X-Amz-Expires", String(link.seconds));
  url.searchParams.set("response-content-type", link.mime);
  url.searchParams.set("response-content-disposition", link.disposition);
  const signer = new AwsV4Signer({ ...credentials(bucket, clock), method: "GET", url: url.href, signQuery: true });
  const signed = await signer.sign();
  // In the query of a `URL` a plus sign means a space, but some services read it as a plus.
  signed.url.search = signed.url.search.replaceAll("+", "%20");
  return signed.url.href;
}

/** The length of a body, if its headers contain it; null for compressed bodies. */
function sizeOf({ headers }: Response): number | null {
  const length = headers.has("Content-Encoding") ? null : headers.get("Content-Length");
  return length === null ? null : Number(length);
}

/** Not awaited, since a service may never settle the cancel. */
function discardBody({ body }: Response): void {
  body?.cancel().catch(() => {});
}

/** An error that contains only the service's own error code, since the rest of the response contains the access key. */
async function refusal(response: Response): Promise<EngineError> {
  const { status } = response;
  const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(
    await readExcerpt(response.body?.getReader(), errorLength).catch(() => ""),
  )?.[1];
  const answered = `The file storage answered ${[status, code].join(" ").trim()}`;
  const Failure = status < 500 ? StorageRefusal : EngineError;
  return new Failure(
    "provider-failed",
    status >= 300 && status < 400 ? `${answered}: ${redirection(response)}` : answered,
  );
}

/** The region that Amazon names for a bucket that was requested in another one. */
function redirection({ headers }: Response): string {
  return headers.has("x-amz-bucket-region")
    ? "the bucket lies in another region than s3_region says"
    : "it redirects, which is not followed: check S3_ENDPOINT, s3_region and s3_bucket";
}
