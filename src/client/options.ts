export interface ClientOptions {
  /** The server's address, such as `http://localhost:4000`; it may end with a path. */
  baseUrl: string | URL;
  /**
   * Sent with every request as `Authorization: Bearer …`: the token of a sign-in, a management key, or an agent's own
   * key. A function is called for each request. On the server's own pages no token is needed: the browser sends the
   * session cookie.
   */
  token?: Token | undefined;
  /** Headers of every request, such as `X-Organization`. A function is called for each request. */
  headers?: Record<string, string> | (() => Record<string, string>);
  /** Used instead of the runtime's `fetch`. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Cancels the request, which rejects with the signal's reason. */
  signal?: AbortSignal;
  /** The token of this request in place of the client's, such as an agent's own key; null: none. */
  token?: Token | null;
  /** Headers of this request. They override the client's headers of the same name. */
  headers?: Record<string, string>;
  /** Called when the server has responded, before the first event of a stream; in a `Chat`, for each connection. */
  onOpen?(): void;
}

/** The client's headers, for requests that have no headers of their own. */
export const usualHeaders = ({ headers }: ClientOptions): Record<string, string> =>
  typeof headers === "function" ? headers() : (headers ?? {});

export type Token = string | (() => string | Promise<string>);

/** How to send a request of the operation and read its response. */
export interface Operation {
  method: string;
  /** The path, with `{name}` for each parameter. */
  path: string;
  answer: "json" | "events" | "blob" | "none";
  /** Maps names of the input to names in the query. */
  query?: Record<string, string>;
  headers?: Record<string, string>;
}
