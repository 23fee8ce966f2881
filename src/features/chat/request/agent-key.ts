import type { Context } from "hono";
import { toHex } from "../../../core/ids.ts";
import { type Limit, requireAllowed, type ThrottleResult } from "../../../core/limits/throttle.ts";
import { clientKey } from "../../../http/callers/address.ts";
import { countRefused } from "../../../http/callers/refused.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { admit, type Caller, type Grant, type LiveAgent, needsKey, presentedKey, WrongKey } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";

/** A grant of a chat endpoint; `holdsKey`: the caller proved the agent's key. */
export interface DoorGrant extends Grant {
  holdsKey: boolean;
}

/** The most wrong keys from one client address: for all agents together (decisions §4), and for each agent. */
const wrongKeys: Limit = { calls: 20, windowMs: 60_000 };
const what = "wrong API keys";

/** The columns of an agent that identify a right key. */
type Keyed = Pick<LiveAgent["row"], "id" | "authKeyHmac">;

/**
 * `admit`, for endpoints that take an agent's key. An address that sent too many wrong keys for an agent gets the 429 for
 * the right key as well, since another answer would reveal the right key to a guesser. An address that sent the right key
 * before is exempt, and wrong keys of other agents don't count: a guesser locks out no other user of the address.
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
  const { row } = agent;
  // Only an agent without authentication accepts a wrong key. After too many wrong ones it also ignores the right key.
  if (presented === "wrong") c.get("refused").count(answeredKey(c, row.id), wrongKeys, c.get("services").clock.now());
  if (presented !== "right") return false;
  if (needsKey(agent, by)) {
    requireTrusted(c, chat, row);
    return true;
  }
  return isTrusted(c, chat, row, [guessKey(c, row.id), answeredKey(c, row.id)]);
}

/** Throws the 429 for the right key of an agent when its address is guessing that agent's keys. */
export function requireTrusted(c: Context<AppEnv>, chat: Chat, agent: Keyed): void {
  const key = guessKey(c, agent.id);
  if (!isTrusted(c, chat, agent, [key])) requireAllowed(judgeNext(c, key), what);
}

/** Whether a right key is accepted: its address sent few wrong keys, or sent this key before. */
function isTrusted(
  c: Context<AppEnv>,
  { keyHolders }: Chat,
  { authKeyHmac }: Keyed,
  counts: readonly string[],
): boolean {
  const holder = authKeyHmac && holderKey(c, authKeyHmac);
  const few = counts.every((key) => judgeNext(c, key).allowed);
  if (!few && !(holder && keyHolders.get(holder))) return false;
  if (holder) keyHolders.set(holder, true);
  return true;
}

/**
 * Whether a key that itself identifies its agent may be looked up, by its marks: its address sent few wrong keys of
 * this kind, or sent this key before.
 */
export function mayLookUp(c: Context<AppEnv>, { keyHolders }: Chat, marks: readonly Uint8Array[]): boolean {
  return judgeNext(c, guessKey(c, null)).allowed || marks.some((mark) => keyHolders.get(holderKey(c, mark)));
}

/**
 * Counts a refused request with `count`, and its key if that was wrong. Throws the 429. The 429 of `count` comes before
 * that of wrong keys, and for right keys too, so it reveals nothing about a key.
 */
export function countRefusal(c: Context<AppEnv>, refusal: unknown, count: () => void = () => countRefused(c)): void {
  const results = refusal instanceof WrongKey ? countGuess(c, refusal.agentId) : [];
  count();
  for (const result of results) requireAllowed(result, what);
}

/** Counts a wrong key, and logs the first one over the limit. The first result is also that of a right key. */
function countGuess(c: Context<AppEnv>, agentId: string | null): ThrottleResult[] {
  const now = c.get("services").clock.now();
  const client = clientKey(c.get("ip"));
  const ofAgent = c.get("refused").count(guessKey(c, agentId), wrongKeys, now);
  const ofAll = c.get("refused").count(`wrong-keys:${client}`, wrongKeys, now);
  if (ofAll.firstRefusal) c.get("log").warn({ client }, "An address sent too many wrong API keys");
  return [ofAgent.result, ofAll.result];
}

const judgeNext = (c: Context<AppEnv>, key: string) =>
  c.get("refused").judgeNext(key, wrongKeys, c.get("services").clock.now());
/** The throttle key of wrong keys; without an agent, at an endpoint where the key alone identifies the agent. */
const guessKey = (c: Context<AppEnv>, agentId: string | null) => `wrong-keys:${agentId}:${clientKey(c.get("ip"))}`;
const answeredKey = (c: Context<AppEnv>, agentId: string) => `answered-keys:${agentId}:${clientKey(c.get("ip"))}`;
const holderKey = (c: Context<AppEnv>, mark: Uint8Array) => `${toHex(mark)} ${clientKey(c.get("ip"))}`;
