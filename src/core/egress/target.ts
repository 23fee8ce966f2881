import ipaddr from "ipaddr.js";

/** A failed request to the outside. A model may read the message, which never contains a header's value. */
export class EgressError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "EgressError";
  }
}

/** A URL that is parsed only once, so that the connection uses the host that was checked. */
export interface Target {
  url: URL;
  /** In lower case, without brackets and a trailing dot. */
  host: string;
  port: number;
  /** Whether the host is an IP address, which needs no look-up. */
  literal: boolean;
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };
const longestUrl = 8_192;

/** The target of a URL, relative to `base` if given. Throws an `EgressError` for one that can't be requested. */
export function parseTarget(text: string, base?: URL): Target {
  const url = text.length <= longestUrl ? URL.parse(text, base) : null;
  if (!url) throw new EgressError(`The URL is not valid; give a whole one of at most ${longestUrl} characters`);
  const defaultPort = defaultPorts[url.protocol];
  if (defaultPort === undefined) throw new EgressError("The URL must begin with http:// or https://");
  if (url.username || url.password) throw new EgressError("The URL must not hold a user name or a password");
  const port = url.port === "" ? defaultPort : Number(url.port);
  if (port === 0) throw new EgressError("The port 0 cannot be requested");
  const host = bareHost(url.hostname);
  if (host.split(".").includes("")) throw new EgressError("The URL has no valid host");
  return { url, host, port, literal: url.hostname.startsWith("[") || isIPv4(host) };
}

/** Whether a host is an IPv4 address. WHATWG parsing has turned every spelling into four decimal parts. */
const isIPv4 = (host: string) => ipaddr.IPv4.isValidFourPartDecimal(host);

const bareHost = (hostname: string) => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");

type Resolve = (name: string) => Promise<readonly string[]>;

/**
 * The addresses of `target` to connect to. Throws an `EgressError` unless all of them are public, or the host is one of
 * `allowedHosts` (`host` or `host:port`). Connect only to these, since a second look-up may return others.
 */
export async function reachableAddresses(
  target: Target,
  allowedHosts: readonly string[],
  resolve: Resolve,
): Promise<readonly string[]> {
  const open = allowedHosts.some((entry) => isSameHost(entry, target));
  if (!open && isLocalName(target.host)) throw notPublic(target);
  const addresses = target.literal ? [target.host] : await resolve(target.url.hostname);
  if (addresses.length === 0) throw new EgressError("The host has no address");
  if (!open && !addresses.every(isPublicAddress)) throw notPublic(target);
  return addresses;
}

/** The error for a private address. It contains the entry of `httpAllowedHosts` that would allow it. */
const notPublic = ({ url, port }: Target) =>
  new EgressError(
    `The address is not public; an administrator may add ${url.hostname}:${port} to the policy httpAllowedHosts`,
  );

/** Whether a name means this machine, whatever a look-up returns (RFC 6761). */
const isLocalName = (host: string) => host === "localhost" || host.endsWith(".localhost");

/** Whether an entry of `httpAllowedHosts` names the host. An entry with a port is for the host at that port only. */
function isSameHost(entry: string, { host, port }: Target): boolean {
  const [, name = "", only] = /^(\[[0-9a-f:.]+\]|[^\s:/?#@\\]+)(?::(\d+))?$/i.exec(entry) ?? [];
  const hostname = URL.parse(`http://${name}`)?.hostname;
  return hostname !== undefined && bareHost(hostname) === host && (only === undefined || Number(only) === port);
}

/** At this address Azure gives machines their secrets. No registry marks it as special. */
const platformAddresses = new Set(["168.63.129.16"]);

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
const translated = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/** Whether a text is an IP address of the public internet; false for other texts and unknown ranges. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return isPublicIPv4(ipaddr.IPv4.parse(address));
  if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return false;
  const ipv6 = ipaddr.IPv6.parse(address);
  const inner = embeddedIPv4(ipv6);
  return inner ? isPublicIPv4(inner) : ipv6.range() === "unicast" && ipv6.match(globalUnicast);
}

function isPublicIPv4(address: ipaddr.IPv4): boolean {
  return address.range() === "unicast" && !platformAddresses.has(address.toString());
}

/**
 * The IPv4 address in a mapped (`::ffff:0:0/96`) or translated IPv6 address (`64:ff9b::/96`, by which networks without
 * IPv4 reach IPv4 hosts); null for others. `isPublicAddress` refuses the whole ranges of tunnels such as 6to4 and
 * Teredo.
 */
function embeddedIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  if (!address.isIPv4MappedAddress() && !address.match(translated)) return null;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}
