export interface ClientOptions {
  /** Where the server is, such as `http://localhost:4000`; a path in front of it is kept. */
  baseUrl: string | URL;
  /**
   * Goes with every call as `Authorization: Bearer …`: the token of a sign-in, a management key, or an agent's own key.
   * A function is asked anew for each call. Without one a browser sends the session cookie, on the server's own pages.
   */
  token?: Token | undefined;
  /** Sent with every call. */
  headers?: Record<string, string>;
  /** In place of the runtime's own. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** For this call in place of the client's, such as an agent's own key; null sends none. */
  token?: Token | null;
  /** Added to the client's; these win. */
  headers?: Record<string, string>;
}

export type Token = string | (() => string | Promise<string>);

/** How a call is sent and read. */
export interface Operation {
  method: string;
  /** With `{name}` for each parameter in it. */
  path: string;
  answer: "json" | "events" | "blob" | "none";
  /** Names of the input → names on the wire. */
  query?: Record<string, string>;
  headers?: Record<string, string>;
}
