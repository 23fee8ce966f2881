/** Where the operator of an agent wants its traces: what is stored, whether it is right or not. */
export interface AgentTracing {
  /** The secret `tracing_api_key`; undefined: there is none. */
  readonly apiKey: string | undefined;
  /** The name of the project that the key should belong to; null: any. */
  readonly project: string | null;
}
