import { type Check, ok, warn } from "../../../core/check.ts";
import { type Environment, retiredSettings, type Settings, usualChatRequests } from "../../../core/config.ts";

const name = "settings";

/** Reports retired variables and unusual but valid settings. */
export function checkSettings(environment: Environment, { CHAT_REQUESTS_PER_MINUTE }: Settings): Check[] {
  const retired = retiredSettings(environment).map((warning) => warn(name, warning));
  return [
    ...(retired.length > 0 ? retired : [ok(name, "All are valid")]),
    ...checkChatRequests(CHAT_REQUESTS_PER_MINUTE),
  ];
}

/** Warns of an unusual chat limit. */
export function checkChatRequests(perMinute: number): Check[] {
  if (perMinute === usualChatRequests) return [];
  const limit = perMinute === 0 ? "no limit" : `a limit of ${perMinute} a minute`;
  return [
    warn(
      name,
      `CHAT_REQUESTS_PER_MINUTE is ${perMinute}: chat completions have ${limit} for each client address, instead of ${usualChatRequests}`,
    ),
  ];
}
