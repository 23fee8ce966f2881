import type { Services } from "../../../../context/ctx.ts";
import { admits, type Destination, destinationOf } from "../../../../core/egress/destination.ts";
import type { Plugin, PluginAnswer, PluginRequest } from "../../../../core/plugins/plugin.ts";
import type { EgressRequest } from "../../../../core/ports.ts";

const maxBytes = 1024 * 1024;

/** Sends a plugin's request to one of its hosts. Rejects with an `Error` that a model may read. */
export async function requestFor(
  { egress, policies: { values } }: Pick<Services, "egress" | "policies">,
  { namespace, hosts }: Pick<Plugin, "namespace" | "hosts">,
  { url, method = "GET", headers = {}, json, body }: PluginRequest,
  { owner, signal }: Required<Pick<EgressRequest, "owner" | "signal">>,
): Promise<PluginAnswer> {
  const to = destinationOf(url);
  if (!to || !hosts.some((entry) => isDeclared(entry, to))) {
    throw new Error(`The plugin ${namespace} may not ask ${to?.host ?? "such an address"}: it declares no such host`);
  }
  if (json !== undefined && body !== undefined) throw new Error("A request has json or body, not both");
  const answer = await egress.request({
    url,
    method,
    headers: json === undefined ? headers : typed(headers),
    body: json === undefined ? body : JSON.stringify(json),
    // The operator who installed the plugin trusts the plugin's hosts.
    allowedHosts: [...values.httpAllowedHosts, ...hosts.filter((entry) => !isWildcard(entry))],
    // The request probably contains a secret of the agent, which must reach no other origin.
    sensitive: true,
    maxBytes,
    owner,
    timeoutMs: values.toolTimeoutSeconds * 1000,
    signal,
  });
  return { status: answer.status, headers: answer.headers, body: answer.body };
}

function typed(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const named = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  return named ? headers : { ...headers, "Content-Type": "application/json" };
}

const isWildcard = (entry: string) => entry.startsWith("*.");

function isDeclared(entry: string, to: Destination): boolean {
  if (!isWildcard(entry)) return admits(entry, to);
  const [, parent = "", port = ""] = /^\*(\.[^:]+)(:\d+)?$/.exec(entry) ?? [];
  return to.host.endsWith(parent) && admits(`${to.host}${port}`, to);
}
