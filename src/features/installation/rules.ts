import { isObject } from "../../core/json.ts";
import { isPolicy, type PolicyChanges } from "../../core/policies.ts";

type StoredPolicies = Readonly<Record<string, unknown>>;

/** The changes without absent fields and without empty objects. */
export function givenChanges(changes: PolicyChanges): Record<string, unknown> {
  const given = Object.entries(changes).filter(([, value]) => {
    return value !== undefined && !(isObject(value) && Object.keys(value).length === 0);
  });
  return Object.fromEntries(given);
}

/** The policies to store after a change: all that were ever set, even those of a later release. */
export function changedPolicies(stored: StoredPolicies, changes: StoredPolicies): Record<string, unknown> {
  const next: Record<string, unknown> = { ...stored };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete next[name];
    else next[name] = isObject(value) ? { ...usableFields(name, stored[name]), ...value } : value;
  }
  return next;
}

/** The stored fields; empty when this release can't read them, since they would make the new fields invalid. */
function usableFields(name: string, stored: unknown): StoredPolicies {
  return isObject(stored) && isPolicy(name, stored) ? stored : {};
}

/** Whether a host, with or without a port, is this machine or an address under which clouds offer credentials. */
export function isSensitiveHost(entry: string): boolean {
  // The parser normalizes every spelling of an address, such as 0x7f.1 to 127.0.0.1.
  const host = URL.parse(`http://${entry}`)?.hostname.replace(/\.$/, "") ?? entry;
  return sensitiveHosts.some((pattern) => pattern.test(host));
}

const sensitiveHosts = [
  /(^|\.)localhost$/,
  /^(127|0)\./,
  /^169\.254\./,
  // The addresses of Alibaba and Oracle.
  /^(100\.100\.100\.200|192\.0\.0\.192)$/,
  /^metadata(\.google\.internal|\.goog)?$/,
  // Loopback, link-local, AWS's address, and IPv4 in IPv6 of 127/8, 0/8 and 169.254/16.
  /^\[(::1?|fe[89ab][0-9a-f]:.*|fd00:ec2::254|::ffff:(7f[0-9a-f]{2}|[0-9a-f]{1,2}|a9fe):[0-9a-f]{1,4})\]$/,
];
