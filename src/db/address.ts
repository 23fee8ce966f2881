/** The parts of a PostgreSQL address, decoded. */
export interface Address {
  /** In the order of trying them; IPv6 without brackets. With a Unix socket, the port is part of the file's name. */
  hosts: { host: string; port: number }[];
  /** The directory of a Unix socket, used instead of the hosts; null for none. */
  socketDirectory: string | null;
  /** Undefined: the driver's own default. */
  user: string | undefined;
  password: string | undefined;
  database: string | undefined;
  /** The other parameters of the query. */
  parameters: Record<string, string>;
}

const usualPort = 5432;

/** The host, user and database may be missing; a password may contain an `@`, and a query a further `?`. */
const form = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s;

/**
 * Reads an address as libpq does: several hosts, `[::1]`, percent-encoded names, and a Unix socket as `?host=/path` or
 * as a percent-encoded host. Parameters of the query override the rest of the address. Null for an invalid address.
 */
export function readAddress(url: string): Address | null {
  const [, authority = "", path, query] = form.exec(url) ?? [];
  if (!form.test(url)) return null;
  const { host, port, user, password, dbname, ...parameters } = Object.fromEntries(new URLSearchParams(query));
  const at = authority.lastIndexOf("@");
  const [, name, secret] = /^([^:]*)(?::(.*))?$/s.exec(authority.slice(0, Math.max(at, 0))) ?? [];
  try {
    const places = readPlaces(authority.slice(at + 1));
    const ports = port === undefined ? places.map((place) => place.port) : port.split(",").map(readPort);
    const names = host === undefined ? places.map((place) => place.host) : host.split(",");
    const hosts = names.map((one, index) => ({ host: one, port: ports[index] ?? ports[0] ?? usualPort }));
    const directories = hosts.filter((one) => one.host.startsWith("/"));
    if (directories.length > 0 && hosts.length > 1) return null;
    return {
      hosts,
      socketDirectory: directories[0]?.host ?? null,
      user: user ?? decoded(name),
      password: password ?? decoded(secret),
      database: dbname ?? decoded(path),
      parameters,
    };
  } catch {
    return null;
  }
}

/** Decodes a part; undefined for an empty one, which stands for the default. Throws for an invalid `%`. */
const decoded = (part: string | undefined) => (part ? decodeURIComponent(part) : undefined);

/** Reads the hosts with their ports. Throws for an invalid one. */
function readPlaces(list: string): Address["hosts"] {
  return list.split(",").map((one) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d*))?$/.exec(one) ?? [];
    if (bracketed === undefined && plain === undefined) throw new Error(`No host: ${one}`);
    return { host: decoded(bracketed ?? plain) ?? "localhost", port: readPort(port) };
  });
}

function readPort(text = ""): number {
  const port = Number(text || usualPort);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`No port: ${text}`);
  return port;
}

/** The hosts of an address for people, such as `[::1]:5432` or a socket's directory. */
export function shownHosts({ hosts, socketDirectory }: Address): string {
  if (socketDirectory !== null) return socketDirectory;
  return hosts.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`).join(",");
}
