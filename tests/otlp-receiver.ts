import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** A span as it arrived, with its attributes decoded. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: number;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  failure: string | null;
  links: { traceId: string; spanId: string }[];
}

export interface Received {
  path: string;
  /** The header `Authorization`; empty without one. */
  authorization: string;
  headers: IncomingMessage["headers"];
  resource: Record<string, unknown>;
  spans: ReceivedSpan[];
  /** The body as received. */
  body: string;
}

/** The answers to the next requests; the last one is repeated. `hang`: no answer. */
export type Answer = "hang" | { status: number; headers?: Record<string, string>; body?: string };

const taken: Answer = { status: 200, body: "{}" };

/** A collector of traces and a Langfuse server on the loopback. It refuses requests that violate OTLP. */
export async function otlpReceiver() {
  const received: Received[] = [];
  let answers: Answer[] = [taken];
  let longestBody = Number.POSITIVE_INFINITY;
  /** The projects by the header `Authorization` of their keys. */
  const projects = new Map<string, string>();
  const asked: string[] = [];
  const next = () => (answers.length > 1 ? answers.shift() : answers[0]) ?? taken;

  const give = (response: ServerResponse, answer: Answer) => {
    if (answer === "hang") return;
    response.writeHead(answer.status, { "Content-Type": "application/json", ...answer.headers });
    response.end(answer.body ?? "{}");
  };
  const server = createServer(async (request, response) => {
    const { url: path = "", headers } = request;
    const { authorization = "" } = headers;
    if (path === "/api/public/projects") {
      asked.push(authorization);
      const name = projects.get(authorization);
      const data = [{ id: "p", name, metadata: {} }];
      const found: Answer = { status: name === undefined ? 401 : 200, body: JSON.stringify({ data }) };
      return give(response, answers[0] === "hang" ? "hang" : found);
    }
    const body = await text(request);
    const answer = body.length > longestBody ? { status: 413 } : next();
    // A refused request counts as not received.
    if (answer !== "hang" && answer.status === 200)
      received.push({ path, authorization, headers, body, ...decode(body) });
    give(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    asked,
    projects,
    spans: (authorization?: string) =>
      received
        .filter((one) => authorization === undefined || one.authorization === authorization)
        .flatMap((one) => one.spans),
    answer: (...next: Answer[]) => {
      answers = next;
    },
    /** Answers 413 to bodies of more characters. */
    takeAtMost: (length: number) => {
      longestBody = length;
    },
    close,
  };
}

/** The header of a pair of keys. */
export const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;

type Fields = Record<string, unknown>;

function decode(body: string): Pick<Received, "resource" | "spans"> {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: { resource: Fields; scopeSpans: { spans: Fields[] }[] }[];
  };
  const [only] = resourceSpans;
  if (!only || resourceSpans.length !== 1) throw new Error("There is one resource");
  return {
    resource: attributesOf(only.resource.attributes),
    spans: only.scopeSpans.flatMap(({ spans }) => spans.map(spanOf)),
  };
}

function spanOf(span: Fields): ReceivedSpan {
  const status = span.status as { code?: number; message?: string };
  return {
    traceId: id(span.traceId, 32),
    spanId: id(span.spanId, 16),
    parentSpanId: span.parentSpanId === undefined ? null : id(span.parentSpanId, 16),
    name: nonEmpty(span.name),
    kind: Number(span.kind),
    startMs: milliseconds(span.startTimeUnixNano),
    endMs: milliseconds(span.endTimeUnixNano),
    attributes: attributesOf(span.attributes),
    failure: status.code === 2 ? (status.message ?? "") : null,
    links: ((span.links ?? []) as Fields[]).map((link) => ({
      traceId: id(link.traceId, 32),
      spanId: id(link.spanId, 16),
    })),
  };
}

function id(value: unknown, length: number): string {
  if (typeof value !== "string" || !new RegExp(`^[0-9a-f]{${length}}$`).test(value) || /^0+$/.test(value)) {
    throw new Error(`${JSON.stringify(value)} is no id of ${length} characters`);
  }
  return value;
}

function nonEmpty(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new Error("A span has a name");
  return value;
}

function milliseconds(value: unknown): number {
  if (typeof value !== "string" || !/^\d{19}$/.test(value)) throw new Error(`${JSON.stringify(value)} is no time`);
  return Number(BigInt(value) / 1_000_000n);
}

function attributesOf(list: unknown): Fields {
  const pairs = (list as { key: string; value: Fields }[]).map(
    ({ key, value }) => [nonEmpty(key), decodedValue(value)] as const,
  );
  if (new Set(pairs.map(([key]) => key)).size < pairs.length) throw new Error("An attribute is given twice");
  return Object.fromEntries(pairs);
}

function decodedValue(value: Fields): unknown {
  const [[kind, held] = ["", null], ...others] = Object.entries(value);
  if (others.length > 0) throw new Error("A value is of one kind");
  if (kind === "stringValue" && typeof held === "string") return held;
  if (kind === "boolValue" && typeof held === "boolean") return held;
  if (kind === "intValue" && typeof held === "string" && /^-?\d+$/.test(held)) return Number(held);
  if (kind === "doubleValue" && typeof held === "number") return held;
  if (kind === "arrayValue") return (held as { values: Fields[] }).values.map(decodedValue);
  throw new Error(`${JSON.stringify(value)} is no value`);
}
