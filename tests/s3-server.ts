import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export const testBucket = {
  region: "eu-central-1",
  bucket: "acme-files",
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

/** A request as Amazon's documentation of Signature Version 4 signs it. */
export interface Signable {
  method: string;
  path: string;
  query: string;
  /** By name in lower case. */
  headers: Readonly<Record<string, string>>;
  signed: readonly string[];
  region: string;
  secret: string;
}

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Uint8Array, data: string) => createHmac("sha256", key).update(data).digest();

export function signatureOf({ method, path, query, headers, signed, region, secret }: Signable): string {
  const moment = headers["x-amz-date"] ?? "";
  const day = moment.slice(0, 8);
  const lines = signed.map((name) => `${name}:${headers[name] ?? ""}\n`).join("");
  const canonical = [method, path, query, lines, signed.join(";"), headers["x-amz-content-sha256"]].join("\n");
  const text = ["AWS4-HMAC-SHA256", moment, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join("\n");
  const key = ["s3", "aws4_request"].reduce(hmac, hmac(hmac(`AWS4${secret}`, day), region));
  return createHmac("sha256", key).update(text).digest("hex");
}

/** The headers that a link signs. */
const wanted = (query: string) =>
  [...new URLSearchParams(query)].flatMap(([name, value]): [string, string][] =>
    name.startsWith("response-") ? [[name.slice("response-".length), value]] : [],
  );

interface Failure {
  status: number;
  code?: string;
  headers?: Record<string, string>;
}

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;

/** A time such as `20130524T000000Z`, in milliseconds since the epoch. */
const timeOf = (moment: string) =>
  Date.parse(moment.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));

/** Percent-encoding as in Amazon's documentation. */
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** The refusal of a GET whose signature is in its query, or null. All other parameters are signed. */
function complaintOfLink(path: string, query: string, host: string, now: number): Failure | null {
  const asked = new URLSearchParams(query);
  const of = (name: string) => asked.get(`X-Amz-${name}`) ?? "";
  const [id, , region = ""] = of("Credential").split("/");
  if (id !== testBucket.accessKeyId) return { status: 403, code: "InvalidAccessKeyId" };
  if (now > timeOf(of("Date")) + Number(of("Expires")) * 1000) return { status: 403, code: "AccessDenied" };
  const canonical = [...asked]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map((pair) => pair.map(encoded).join("="))
    .sort()
    .join("&");
  const headers = { host, "x-amz-date": of("Date"), "x-amz-content-sha256": "UNSIGNED-PAYLOAD" };
  const signed = of("SignedHeaders").split(";");
  const request = { method: "GET", path, query: canonical, headers, signed, region };
  const expected = signatureOf({ ...request, secret: testBucket.secretAccessKey });
  return of("Signature") === expected ? null : { status: 403, code: "SignatureDoesNotMatch" };
}

/** The refusal of a request that Amazon's service would refuse, or null. */
function complaint(request: IncomingMessage, body: Uint8Array, now: number): Failure | null {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const isLink = request.method === "GET" && query.includes("X-Amz-Signature=");
  if (isLink) return complaintOfLink(path, query, request.headers.host ?? "", now);
  const [, id, region = "", signed = "", signature] = authorization.exec(request.headers.authorization ?? "") ?? [];
  if (id !== testBucket.accessKeyId) return { status: 403, code: "InvalidAccessKeyId" };
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  if (request.method === "PUT" && headers["content-length"] === undefined) return { status: 411 };
  if (headers["x-amz-content-sha256"] !== sha256(body)) return { status: 400, code: "XAmzContentSHA256Mismatch" };
  const asked = { method: request.method ?? "", path, query, headers, signed: signed.split(";"), region };
  const expected = signatureOf({ ...asked, secret: testBucket.secretAccessKey });
  return signature === expected ? null : { status: 403, code: "SignatureDoesNotMatch" };
}

/**
 * An S3 that checks every signature, and the expiry of links by `now`. `state.failing` makes every request fail with it.
 */
export async function s3Server(now: () => number = Date.now) {
  const objects = new Map<string, { bytes: Buffer; mime: string | undefined }>();
  const asked: string[] = [];
  const state = { failing: null as Failure | null };
  const server = createServer(async (request, response) => {
    const [path = "", query = ""] = (request.url ?? "").split("?");
    asked.push(`${request.method} ${path}`);
    const body = await buffer(request);
    const { status, code, headers } = state.failing ?? complaint(request, body, now()) ?? answer(request, body);
    const found = request.method === "GET" && status === 200 ? objects.get(path) : undefined;
    if (found) for (const [name, value] of wanted(query)) response.setHeader(name, value);
    if (found) response.setHeader("Content-Length", found.bytes.length);
    const xml = code === undefined ? "" : `<Error><Code>${code}</Code><Key>${testBucket.accessKeyId}</Key></Error>`;
    response.writeHead(status, headers).end(status === 204 ? undefined : (found?.bytes ?? xml));
  });
  const answer = ({ method, url: target = "", headers }: IncomingMessage, body: Buffer): Failure => {
    const [url = ""] = target.split("?");
    if (method === "PUT") objects.set(url, { bytes: body, mime: headers["content-type"] });
    if (method === "PUT") return { status: 200 };
    if (method === "DELETE") objects.delete(url);
    if (method === "DELETE") return { status: 204 };
    return objects.has(url) ? { status: 200 } : { status: 404, code: "NoSuchKey" };
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The server has no port");
  return { endpoint: `http://127.0.0.1:${address.port}`, objects, asked, state };
}
