import type { Context } from "hono";
import { clientKey } from "../../../http/address.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { type Limit, requireAllowed } from "../../../http/throttle.ts";
import {
  admit,
  type Caller,
  type Grant,
  isAdmittedByKey,
  type LiveAgent,
  presentedKey,
  WrongKey,
} from "../../turns/index.ts";
import type { Chat } from "../chat.ts";

/** A grant at a door, and whether its caller proved to hold the agent's key. */
export interface DoorGrant extends Grant {
  holdsKey: boolean;
}

/** Wrong keys from one client address, for all agents together (decisions §4). */
const wrongKeys: Limit = { calls: 20, windowMs: 60_000 };
const what = "wrong API keys";

/**
 * `admit`, for the doors that take an agent's key. An address that sent too many wrong keys gets the 429 for a right one
 * as well, since another answer would tell a guesser which one is right. It does not get it where the agent's key was
 * right before, so that nobody locks out those who share an address with him.
 */
export function admitAt(
  c: Context<AppEnv>,
  chat: Chat,
  { agent, slug, by }: { agent: LiveAgent | null; slug: string; by: Caller },
): DoorGrant {
  const grant = admit(agent, slug, by);
  return { ...grant, holdsKey: by.type === "client" && provesKey(c, chat, grant, by) };
}

function provesKey(c: Context<AppEnv>, chat: Chat, { agent }: Grant, by: Extract<Caller, { type: "client" }>): boolean {
  const presented = presentedKey(agent, by.authorization);
  const { id } = agent.row;
  // Only an agent without authentication answers a wrong key. It does not believe a right one after too many of those.
  if (presented === "wrong") c.var.refused.count(answeredKey(c, id), wrongKeys, c.var.services.clock.now());
  if (presented !== "right") return false;
  if (isAdmittedByKey(agent, by)) {
    requireTrusted(c, chat, id);
    return true;
  }
  return isTrusted(c, chat, id, [guessKey(c), answeredKey(c, id)]);
}

/** Throws the 429 for the right key of an agent from an address that guesses. */
export function requireTrusted(c: Context<AppEnv>, chat: Chat, agentId: string): void {
  const key = guessKey(c);
  if (isTrusted(c, chat, agentId, [key])) return;
  requireAllowed(c.var.refused.judgeNext(key, wrongKeys, c.var.services.clock.now()), what);
}

/** Whether a right key is believed: its address sent few wrong ones, or this one before. */
function isTrusted(c: Context<AppEnv>, { keyHolders }: Chat, agentId: string, counts: readonly string[]): boolean {
  const holder = `${agentId} ${clientKey(c.var.ip)}`;
  const now = c.var.services.clock.now();
  const few = counts.every((key) => c.var.refused.judgeNext(key, wrongKeys, now).allowed);
  if (!few && !keyHolders.get(holder)) return false;
  keyHolders.set(holder, true);
  return true;
}

/** Counts a refusal if it is that of a wrong key, and logs the first one too many. Throws the 429. */
export function countGuess(c: Context<AppEnv>, refusal: unknown): void {
  if (!(refusal instanceof WrongKey)) return;
  const { refused, services, log, ip } = c.var;
  const { verdict, firstRefusal } = refused.count(guessKey(c), wrongKeys, services.clock.now());
  if (firstRefusal) log.warn({ client: clientKey(ip) }, "An address sent too many wrong API keys");
  requireAllowed(verdict, what);
}

const guessKey = (c: Context<AppEnv>) => `wrong-keys:${clientKey(c.var.ip)}`;
const answeredKey = (c: Context<AppEnv>, agentId: string) => `answered-keys:${agentId}:${clientKey(c.var.ip)}`;
