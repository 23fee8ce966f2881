import type { MessengerConfig, MessengerName, Messengers } from "../../core/channels/messengers.ts";
import type { Clock } from "../../core/ports.ts";
import { scrubber } from "../../core/scrub/scrub.ts";
import { identities, wordsBy } from "./options.ts";
import { slackAccount } from "./slack/account.ts";
import { telegramAccount } from "./telegram/account.ts";
import { whatsAppAccount } from "./whatsapp/account.ts";

interface Options {
  clock: Clock;
  /** Other addresses for the messengers' APIs, instead of their usual ones. */
  bases?: { readonly [name in MessengerName]?: string | undefined };
  fetch?: typeof globalThis.fetch;
  /** A `fetch` for addresses that messengers' responses contain: it reaches only public addresses and these hosts. */
  guarded?: (allowedHosts: readonly string[]) => typeof globalThis.fetch;
}

const ownBases: Readonly<Record<MessengerName, string>> = {
  telegram: "https://api.telegram.org",
  slack: "https://slack.com/api",
  whatsapp: "https://api.twilio.com",
};

/** Telegram, Slack, and WhatsApp through Twilio. */
export function createMessengers({
  clock,
  bases = {},
  fetch = globalThis.fetch,
  guarded = () => fetch,
}: Options): Messengers {
  const shared = { clock, fetch, identities: identities(clock) };
  const base = (name: MessengerName) => (bases[name] ?? ownBases[name]).replace(/\/+$/, "");
  return {
    account(of, loadScrub) {
      const address = base(of.name);
      const outside = guarded([URL.parse(address)?.host ?? ""]);
      const options = {
        ...shared,
        base: address,
        outside,
        scrub: scrubber(credentialsOf(of)),
        words: wordsBy(loadScrub),
      };
      switch (of.name) {
        case "telegram":
          return telegramAccount(of.config, options);
        case "slack":
          return slackAccount(of.config, options);
        case "whatsapp":
          return whatsAppAccount(of.config, options);
      }
    },
  };
}

/** The secrets in an account's configuration. */
function credentialsOf({ name, config }: MessengerConfig): string[] {
  switch (name) {
    case "telegram":
      return [config.botToken];
    case "slack":
      return [config.botToken, config.signingSecret, config.appToken].filter((value) => value !== null);
    case "whatsapp": {
      const { credentials } = config;
      return [credentials.mode === "auth_token" ? credentials.authToken : credentials.apiKeySecret];
    }
  }
}
