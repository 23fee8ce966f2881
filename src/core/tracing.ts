/** The settings of an agent's operator for a collector, as stored, whether or not they work. */
export interface AgentTracing {
  /** The secret `tracing_api_key`; undefined when it is missing. */
  readonly apiKey: string | undefined;
  /** The name of the key's project; null for any. */
  readonly project: string | null;
}

export type AttributeValue = string | number | boolean | readonly string[];

/** The attributes of a span; undefined ones are left out. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** The ids of a span: 32 and 16 hexadecimal characters. */
export interface SpanRef {
  traceId: string;
  spanId: string;
}

/** A finished OpenTelemetry span. Its texts contain no secret. */
export interface Span extends SpanRef {
  /** Null for the root of a trace. */
  parentSpanId: string | null;
  name: string;
  /** `client`: a call to another service, such as a model. */
  kind: "internal" | "client";
  /** Milliseconds since the epoch. */
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** The text of the failure; null for a success. */
  failure: string | null;
  links: readonly SpanRef[];
}

/** A collector to which spans are sent. */
export interface Collector {
  /** Tells collectors apart; it may contain a secret. */
  readonly id: string;
  /** The collector's name in the log. */
  readonly name: string;
  /** The whole address for OTLP over HTTP. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The attributes of the sender. */
  readonly resource: Attributes;
}

/** The spans of this process since its start. */
export interface SpanCounts {
  sent: number;
  /** Spans that were dropped for lack of room, or that a collector did not accept. */
  dropped: number;
}

/** The access to one project of a tracing backend. */
export interface ProjectKey {
  /** The backend's address, without a trailing slash. */
  baseUrl: string;
  /** The value of the header `Authorization`. */
  authorization: string;
}

/** A request to the tracing backend failed. The message is the engine's own, and people may see it. */
export class TracingError extends Error {}

/** Sends spans to collectors by OTLP. */
export interface Tracer {
  /**
   * Sends the spans of a trace soon. Never throws and never waits: `make` runs later. A trace for which there is no
   * room is dropped and counted.
   */
  send(collector: Collector, make: () => readonly Span[]): void;
  /** The names of the projects that a key belongs to. Rejects with a `TracingError`. */
  projectsOf(key: ProjectKey): Promise<string[]>;
  counts(): SpanCounts;
  /** Sends waiting spans for at most `ms` milliseconds; drops the rest and all later ones. */
  close(ms: number): Promise<void>;
}

/** The tracer of a process that sends no spans. */
export const untraced: Tracer = {
  send: () => {},
  projectsOf: () => Promise.reject(new TracingError("This process sends no traces")),
  counts: () => ({ sent: 0, dropped: 0 }),
  close: async () => {},
};

/** Matches the public and the secret key of a project, neither of which contains a colon. */
const keyPair = /^pk-[\x21-\x39\x3b-\x7e]{1,250}:sk-[\x21-\x39\x3b-\x7e]{1,250}$/;

/** Why a value can't be the secret `tracing_api_key`; null when it can. */
export function keyPairProblem(value: string): string | null {
  return keyPair.test(value) ? null : "must be the public and the secret key of a project, as pk-…:sk-…";
}

/** The settings that name the operator's own collector. */
interface OtlpSettings {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: Readonly<Record<string, string>> | undefined;
  OTEL_EXPORTER_OTLP_TRACES_HEADERS?: Readonly<Record<string, string>> | undefined;
  OTEL_SERVICE_NAME: string;
}

/** The collector of all agents' spans; null when the operator set none. */
export function operatorCollector(settings: OtlpSettings, version: string): Collector | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = settings;
  const url = own ?? (base === undefined ? undefined : `${base}/v1/traces`);
  if (url === undefined) return null;
  return {
    id: "operator",
    name: URL.parse(url)?.host ?? "",
    url,
    headers: { ...settings.OTEL_EXPORTER_OTLP_HEADERS, ...settings.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
    resource: { "service.name": settings.OTEL_SERVICE_NAME, "service.version": version },
  };
}
