export interface ClientOptions {
  /** The server's address, such as `http://localhost:4000`; it may end with a path. */
  baseUrl: string | URL;
  /**
   * Sent with every call as `Authorization: Bearer …`: the token of a sign-in, a management key, or an agent's own key.
   * A function is called for each call. Without a token a browser sends the session cookie, on the server's own pages.
   */
  token?: Token | undefined;
  /** Headers of every call, such as `X-Organization`. A function is called for each call. */
  headers?: Record<string, string> | (() => Record<string, string>);
  /** Used in place of the runtime's `fetch`. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** The token of this call in place of the client's, such as an agent's own key; null sends none. */
  token?: Token | null;
  /** Headers of this call. They replace those of the client with the same name. */
  headers?: Record<string, string>;
  /** Called once the server has answered, before a stream's first event; of a `Chat` with each of its connections. */
  onOpen?(): void;
}

/** The headers of a call that names none of its own. */
export const usualHeaders = ({ headers }: ClientOptions): Record<string, string> =>
  typeof headers === "function" ? headers() : (headers ?? {});

export type Token = string | (() => string | Promise<string>);

/** How to send a call of the operation and read its answer. */
export interface Operation {
  method: string;
  /** The path, with `{name}` for each parameter. */
  path: string;
  answer: "json" | "events" | "blob" | "none";
  /** Names of the input → names on the wire. */
  query?: Record<string, string>;
  headers?: Record<string, string>;
}
