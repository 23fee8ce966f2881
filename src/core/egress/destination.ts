/** The destination of a request. */
export interface Destination {
  /** In lower case, without brackets and without a dot at the end. */
  host: string;
  port: number;
  https: boolean;
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Null when the text is no http or https address. */
export function destinationOf(text: string): Destination | null {
  const url = URL.parse(text);
  const defaultPort = defaultPorts[url?.protocol ?? ""];
  if (!url || defaultPort === undefined) return null;
  const port = url.port === "" ? defaultPort : Number(url.port);
  return { host: bareHost(url.hostname), port, https: url.protocol === "https:" };
}

const bareHost = (hostname: string) => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");

export const isSameDestination = (a: Destination | null, b: Destination | null) =>
  a?.host === b?.host && a?.port === b?.port && a?.https === b?.https;

/**
 * Whether an entry, `host` or `host:port`, names a destination. One without a port admits https alone: over plain http
 * others could read what is sent.
 */
export function admits(entry: string, { host, port, https }: Destination): boolean {
  const named = destinationOf(`https://${entry}`);
  if (named?.host !== host || named.port !== port) return false;
  return https || /:\d+$/.test(entry.replace(/^\[.*\]/, ""));
}
