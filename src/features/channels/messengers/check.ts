import { type Ctx, publicAddress } from "../../../context/ctx.ts";
import type { ChannelCheck, MessengerName } from "../../../core/channels/messengers.ts";
import { EgressError } from "../../../core/egress/target.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { invalid } from "../../../http/errors.ts";
import { type AgentRow, findAgent } from "../../agents/index.ts";
import { findRow, openConfig } from "../row.ts";
import type { ChannelTest } from "../schema.ts";
import { isReachable, missingFields, openedConfig, type StoredFields, transportOf, webhookAddress } from "./rules.ts";

/**
 * Checks whether the messenger accepts the credentials and, while the channel is on, whether messages can arrive.
 * Throws the 404 of the agent, and the 400 with the missing settings.
 */
export async function testMessenger(ctx: Ctx, slug: string, name: MessengerName): Promise<ChannelTest> {
  const agent = await findAgent(ctx, slug);
  const row = await findRow(ctx.db, agent.id, name);
  const fields = await openConfig<StoredFields>(ctx.cipher, agent.id, name, row);
  const address = publicAddress(ctx);
  const transport = transportOf(name, fields, address);
  const missing = missingFields(name, fields, transport);
  if (missing.length > 0) throw invalid(missing);
  const account = ctx.messengers.account(openedConfig(name, fields, transport), () =>
    ctx.agentSecrets.scrubOf(agent.id),
  );
  const wanted = { url: webhookAddress(address, name, slug, fields), secret: fields.webhookSecret ?? null };
  // No common time limit: each request has its own.
  const { signal } = new AbortController();
  const isWebhook = transport === "webhook";
  const asked = account.check(isWebhook ? wanted : null, signal);
  const credentials = async () => (await asked).filter(({ name }) => name === "credentials");
  // Messengers don't call a disabled channel, so only its credentials are checked.
  if (!row?.enabled) return verdict(await credentials());
  if (!isWebhook) return verdict(await asked);
  if (!isReachable(address)) return verdict([...(await credentials()), ...unreachable(address)]);
  const [checks, reached] = await Promise.all([asked, checkReach(ctx, address, agent, name, signal)]);
  const own = checks.find(({ name }) => name === "reachable");
  return verdict([...checks.filter((check) => check !== own), own ? both(reached, own) : reached]);
}

const verdict = (checks: ChannelCheck[]): ChannelTest => ({ ok: checks.every(({ ok }) => ok), checks });

/** Joins the check of this server and that of the messenger. */
const both = (one: ChannelCheck, other: ChannelCheck): ChannelCheck => ({
  name: one.name,
  ok: one.ok && other.ok,
  message: `${one.message}. ${other.message}`,
});

/** The checks for an address that no messenger can call: nothing can be registered or tried. */
function unreachable(address: string): ChannelCheck[] {
  const todo = "set the policy publicAddress to an https address of this server";
  return [
    {
      name: "webhook",
      ok: false,
      message: `No messenger can call ${address}, so there is no webhook to set there yet`,
    },
    { name: "reachable", ok: false, message: `No messenger reaches ${address}: ${todo}` },
  ];
}

const timeoutMs = 10_000;

/** Checks whether requests to the public address arrive here: one without proof must get this server's refusal. */
async function checkReach(
  ctx: Ctx,
  address: string,
  { slug }: Pick<AgentRow, "slug">,
  name: MessengerName,
  signal: AbortSignal,
): Promise<ChannelCheck> {
  const result = (ok: boolean, message: string): ChannelCheck => ({ name: "reachable", ok, message });
  // The address without the secret in its path, so that the request must be refused.
  const url = webhookAddress(address, name, slug, {});
  try {
    const { status, body } = await ctx.egress.request({
      url,
      method: "POST",
      headers: {},
      sensitive: true,
      maxBytes: 65_536,
      timeoutMs,
      signal,
      // Allowed although it may be an internal address from here: only people who set policies choose this host.
      allowedHosts: [new URL(address).host],
    });
    if (isRefusalOfOurs(status, body)) return result(true, `${address} leads to this server`);
    return result(
      false,
      `${url} answers ${status}, and not as this server does: let calls of /webhooks/* through to it`,
    );
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return result(false, `${address} could not be reached from here: ${error.message}`);
  }
}

function isRefusalOfOurs(status: number, body: string): boolean {
  try {
    const answer = parseJson(body, 3);
    return [401, 403, 404].includes(status) && isObject(answer) && answer.statusCode === status;
  } catch {
    return false;
  }
}
