const ipv4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/**
 * The client's address: the socket's, or, behind trusted proxies, the `trustProxy`-th entry of `X-Forwarded-For` from
 * the right (decisions §1, "Proxy"). The client itself may have written the entries to the left of it.
 */
export function clientAddress(
  socket: string | undefined,
  forwardedFor: string | undefined,
  trustProxy: number,
): string {
  const own = parseAddress(socket ?? "") ?? "unknown";
  if (trustProxy === 0 || forwardedFor === undefined) return own;
  const entries = forwardedFor.split(",");
  // If the list has fewer entries, one of the proxies began it, so its first entry is trusted.
  const entry = entries[Math.max(0, entries.length - trustProxy)] ?? "";
  return parseAddress(entry) ?? own;
}

/** The address by which throttles count: an IPv4 address, or the /64 of an IPv6 address, which belongs to one holder. */
export function clientKey(ip: string): string {
  const groups = ipv6Groups(ip);
  return groups ? `${groups.slice(0, 4).join(":")}::/64` : ip;
}

/** The /48 of an IPv6 address, which may also belong to one holder; null for an IPv4 address. */
export function networkKey(ip: string): string | null {
  const groups = ipv6Groups(ip);
  return groups ? `${groups.slice(0, 3).join(":")}::/48` : null;
}

/** The address without port, brackets, zone and IPv4-in-IPv6 prefix; null when the text is no address. */
function parseAddress(text: string): string | null {
  const trimmed = text.trim().toLowerCase();
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(trimmed)?.[1];
  const bare = (bracketed ?? trimmed.replace(/^([\d.]+):\d+$/, "$1"))
    .replace(/%.*$/, "")
    .replace(/^::ffff:(?=\d+\.)/, "");
  if (ipv4.test(bare)) return bare;
  return ipv6Groups(bare) ? bare : null;
}

/** The eight groups of an IPv6 address without leading zeros; null for other texts. */
function ipv6Groups(ip: string): string[] | null {
  if (!ip.includes(":")) return null;
  const halves = ip.split("::");
  if (halves.length > 2) return null;
  const [head = [], tail = []] = halves.map(toGroups);
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...Array<string>(missing).fill("0"), ...tail];
  return groups.every((group) => /^[0-9a-f]{1,4}$/.test(group))
    ? groups.map((group) => group.replace(/^0+(?=.)/, ""))
    : null;
}

/** The groups of one half of an address. An IPv4 part becomes two groups of 0, since no /64 depends on it. */
function toGroups(half: string): string[] {
  if (half === "") return [];
  const groups = half.split(":");
  return ipv4.test(groups.at(-1) ?? "") ? [...groups.slice(0, -1), "0", "0"] : groups;
}
