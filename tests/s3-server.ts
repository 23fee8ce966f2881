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

interface Failure {
  status: number;
  code?: string;
  headers?: Record<string, string>;
}

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;

/** The refusal of a request that Amazon's service would refuse, or null. */
function complaint(request: IncomingMessage, body: Uint8Array): Failure | null {
  const [, id, region = "", signed = "", signature] = authorization.exec(request.headers.authorization ?? "") ?? [];
  if (id !== testBucket.accessKeyId) return { status: 403, code: "InvalidAccessKeyId" };
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  if (request.method === "PUT" && headers["content-length"] === undefined) return { status: 411 };
  if (headers["x-amz-content-sha256"] !== sha256(body)) return { status: 400, code: "XAmzContentSHA256Mismatch" };
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const asked = { method: request.method ?? "", path, query, headers, signed: signed.split(";"), region };
  const expected = signatureOf({ ...asked, secret: testBucket.secretAccessKey });
  return signature === expected ? null : { status: 403, code: "SignatureDoesNotMatch" };
}

/** An S3 that checks every signature. `state.failing` makes every request fail with it. */
export async function s3Server() {
  const objects = new Map<string, { bytes: Buffer; mime: string | undefined }>();
  const asked: string[] = [];
  const state = { failing: null as Failure | null };
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    asked.push(`${request.method} ${path}`);
    const body = await buffer(request);
    const { status, code, headers } = state.failing ?? complaint(request, body) ?? answer(request, body);
    const found = request.method === "GET" && status === 200 ? objects.get(path) : undefined;
    const xml = code === undefined ? "" : `<Error><Code>${code}</Code><Key>${testBucket.accessKeyId}</Key></Error>`;
    response.writeHead(status, headers).end(status === 204 ? undefined : (found?.bytes ?? xml));
  });
  const answer = ({ method, url = "", headers }: IncomingMessage, body: Buffer): Failure => {
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
