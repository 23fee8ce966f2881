import {
  type ChannelCheck,
  FileTooLarge,
  longestParts,
  type MessengerAccount,
  MessengerError,
  type Unproven,
  type WantedWebhook,
  type WebhookCall,
  type WebhookHead,
  type WhatsAppConfig,
} from "../../../core/channels/messengers.ts";
import { formFields } from "../../../core/egress/text.ts";
import { sameText, toBase64 } from "../../../core/ids.ts";
import { textOf } from "../fields.ts";
import { type FileResponse, messengerHttp } from "../http.ts";
import type { AccountOptions } from "../options.ts";
import { rendered } from "../rendered.ts";
import { hmac } from "../signature.ts";
import { readForm } from "./messages.ts";
import { twilioApi, twilioAuthorization } from "./twilio.ts";

/** Matches the path of a message's file. Other addresses at Twilio may redirect to any address that a sender chooses. */
const mediaPath = /^\/2010-04-01\/Accounts\/AC\w{32}\/Messages\/\w{34}\/Media\/\w{2,34}$/;

/** An HMAC of SHA-1 in base64. */
const [signatureHeader, signatureForm] = ["X-Twilio-Signature", /^[A-Za-z0-9+/]{27}=$/];

/** How many redirects of a file's address are followed. */
const mostRedirects = 3;

const loadMarkup = async () => (await import("./text.ts")).whatsAppText;

/** A WhatsApp number at Twilio. A `channelId` is a person's phone number. */
export function whatsAppAccount(
  config: WhatsAppConfig,
  { clock, fetch, outside, base, scrub, words }: AccountOptions,
): MessengerAccount {
  const { credentials, whatsappNumber } = config;
  const http = messengerHttp({ name: "Twilio", clock, fetch, scrub });
  const outsideHttp = messengerHttp({ name: "Twilio", clock, fetch: outside, scrub });
  const api = twilioApi({ http, clock, base, config, words });

  const refuses = ({ headers, secret, pathSecret }: WebhookHead): Unproven | null => {
    if (credentials.mode === "auth_token") return signatureForm.test(headers.get(signatureHeader) ?? "") ? null : 403;
    return secret && pathSecret !== null && sameText(pathSecret, secret) ? null : 404;
  };

  /** Downloads a file. Twilio redirects to its file storage, to which no credentials are sent. */
  const fetchFile = async (url: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> => {
    let at = url;
    for (let hop = 0; hop <= mostRedirects; hop += 1) {
      const [way, headers] = hop === 0 ? [http, { Authorization: twilioAuthorization(config) }] : [outsideHttp, {}];
      const found = await way.download({ url: at, method: "GET", headers, signal }, maxBytes, fileOrNext);
      if (typeof found !== "string") return found;
      at = URL.parse(found, at)?.href ?? "";
      if (!isNoLessSafe(at, base)) break;
    }
    throw new MessengerError("Twilio does not lead to the file", { isPermanent: true });
  };

  const credentialsCheck = async (signal: AbortSignal): Promise<ChannelCheck> => {
    const name = "credentials";
    if (credentials.mode === "api_key") {
      // A standard API key can read the account's messages, but not the account itself.
      await api("/Messages.json?PageSize=1", { signal });
      return { name, ok: true, message: "Twilio takes the API key" };
    }
    const { status, friendly_name } = await api(".json", { signal });
    const message = `The account ${await words(friendly_name)} is ${await words(status)}`;
    return { name, ok: status === "active", message };
  };

  return {
    // Not shown: Twilio's typing notice needs the id of the person's message, and marks that message as read.
    typingMs: null,
    answers: () => true,

    refuses,

    async receive(call) {
      const status = refuses(call);
      if (status !== null) return { kind: "refused", status };
      const form = readParameters(call.body, call.headers.get("Content-Type"));
      const isProven =
        credentials.mode === "api_key" || (form !== null && (await isSigned(call, form, credentials.authToken)));
      if (!isProven) return { kind: "refused", status: 403 };
      const message = form && readForm(form, whatsappNumber);
      return { kind: "arrivals", arrivals: message === null ? [] : [message] };
    },

    async send(channelId, markdown, signal) {
      const text = (await rendered(loadMarkup, markdown)) ?? markdown;
      const Body = text.length <= longestParts.whatsapp ? text : markdown;
      const form = { From: `whatsapp:${whatsappNumber}`, To: `whatsapp:${channelId}`, Body };
      return textOf((await api("/Messages.json", { signal, form })).sid);
    },

    async typing() {},

    async download({ ref, size }, maxBytes, signal) {
      if ((size ?? 0) > maxBytes) throw new FileTooLarge(maxBytes);
      if (!isTwilios(ref, base)) throw new MessengerError("The file does not lie at Twilio", { isPermanent: true });
      return fetchFile(ref, maxBytes, signal);
    },

    async register() {},

    prove: credentialsCheck,

    async check(wanted, signal) {
      try {
        const credentials = await credentialsCheck(signal);
        return wanted === null ? [credentials] : [credentials, byHand(wanted)];
      } catch (error) {
        if (!(error instanceof MessengerError)) throw error;
        return [{ name: "credentials", ok: false, message: error.message }];
      }
    },
  };
}

/** The bytes of a file, or the address of a redirect. */
async function fileOrNext({
  status,
  headers,
  bytes,
  refusal,
}: FileResponse): Promise<Uint8Array<ArrayBuffer> | string> {
  if (status === 200) return bytes();
  const next = headers.get("Location");
  if (status >= 300 && status < 400 && next !== null) return next;
  throw refusal();
}

/**
 * Whether Twilio signed a request (https://www.twilio.com/docs/usage/webhooks/webhooks-security). Twilio signs the
 * address either with or without its port.
 */
async function isSigned({ url, headers }: WebhookCall, form: URLSearchParams, authToken: string): Promise<boolean> {
  const presented = headers.get(signatureHeader);
  const address = URL.parse(url);
  if (presented === null || address === null || authToken === "") return false;
  // Reads the form in one pass, since a stranger can send any number of names.
  const values = new Map<string, Set<string>>();
  for (const [name, value] of form) values.set(name, (values.get(name) ?? new Set()).add(value));
  const fields = [...values.keys()].sort().flatMap((name) => [...(values.get(name) ?? [])].sort().map((v) => name + v));
  let isRight = false;
  for (const candidate of withAndWithoutPort(address)) {
    const expected = toBase64(await hmac("SHA-1", authToken, candidate + fields.join("")));
    isRight = sameText(presented, expected) || isRight;
  }
  return isRight;
}

function withAndWithoutPort({ protocol, hostname, port, pathname, search }: URL): string[] {
  const usual = protocol === "https:" ? "443" : "80";
  return [`:${port || usual}`, ""].map((part) => `${protocol}//${hostname}${part}${pathname}${search}`);
}

/** Whether an address is Twilio's address of a message's file. Credentials are sent only to such addresses. */
function isTwilios(address: string, base: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== "" || url.password !== "" || !mediaPath.test(url.pathname)) return false;
  return url.origin === URL.parse(base)?.origin || url.origin === "https://api.twilio.com";
}

/** Whether an address is encrypted; an unencrypted one is accepted if the configured one is not encrypted either. */
function isNoLessSafe(address: string, base: string): boolean {
  const protocol = URL.parse(address)?.protocol;
  return protocol === "https:" || (protocol === "http:" && base.startsWith("http:"));
}

/** A person has to check the webhook's address at the number or in the sandbox, since no API can read it. */
const byHand = ({ url }: WantedWebhook): ChannelCheck => ({
  name: "webhook",
  ok: true,
  message: `Not checked, since Twilio does not say which address it calls: compare it by hand. In Twilio's console, the WhatsApp sender's webhook for incoming messages must be ${url}, with POST`,
});

/** The most parameters. Twilio sends some 30. For a stranger's many, `URLSearchParams` may take quadratic time. */
const mostParameters = 1_000;

/** The parameters of a form; null when there are too many. */
const readParameters = (body: Uint8Array, contentType: string | null): URLSearchParams | null =>
  hasTooMany(body) ? null : formFields(body, contentType ?? undefined);

function hasTooMany(body: Uint8Array): boolean {
  const ampersand = 0x26;
  for (let [count, at] = [1, -1]; count <= mostParameters; count += 1) {
    at = body.indexOf(ampersand, at + 1);
    if (at < 0) return false;
  }
  return true;
}
