import { createHmac } from "node:crypto";
import type { ApiAnswer, ApiRequest } from "./api-server.ts";
import { apiServer } from "./api-server.ts";

interface SentToTwilio {
  sid: string;
  from: string;
  to: string;
  body: string;
}

export const twilioAccount = {
  accountSid: "AC0123456789abcdef0123456789abcdef",
  authToken: "0123456789abcdef0123456789abcdef",
  apiKeySid: "SK0123456789abcdef0123456789abcdef",
  apiKeySecret: "exampleApiKeySecret0123456789abcd",
  whatsappNumber: "+14155238886",
};

/** The signature of a call with form parameters (https://www.twilio.com/docs/usage/webhooks/webhooks-security). */
export function twilioSignature(authToken: string, url: string, params: Readonly<Record<string, string>>): string {
  const fields = Object.keys(params)
    .sort()
    .map((name) => name + params[name]);
  return createHmac("sha1", authToken)
    .update(url + fields.join(""))
    .digest("base64");
}

const refuse = (status: number, code: number, message: string): ApiAnswer => ({
  status,
  json: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});

const newSid = (kind: string, number: number) => kind + number.toString(16).padStart(32, "0");

/** Twilio with one account and one WhatsApp number, whose webhook is `state.webhookUrl`. */
export async function twilioServer() {
  const sent: SentToTwilio[] = [];
  const media = new Map<string, { bytes: Uint8Array; mime: string }>();
  const state = { webhookUrl: null as string | null, status: "active" };
  let next = 1;
  const { accountSid, authToken, apiKeySid, apiKeySecret, whatsappNumber } = twilioAccount;
  const root = `/2010-04-01/Accounts/${accountSid}`;
  const pairs = new Map([
    [`Basic ${btoa(`${accountSid}:${authToken}`)}`, "account"],
    [`Basic ${btoa(`${apiKeySid}:${apiKeySecret}`)}`, "key"],
  ]);

  const handle = ({ method, path, headers, body }: ApiRequest): ApiAnswer => {
    if (path.startsWith("/cdn/")) {
      // The file storage refuses a request with two credentials.
      if (headers.authorization) return { status: 400, bytes: "Only one auth mechanism allowed" };
      const file = media.get(path.slice(5));
      return file ? { bytes: file.bytes, headers: { "Content-Type": file.mime } } : { status: 403 };
    }
    const who = pairs.get(headers.authorization ?? "");
    if (!who || !path.startsWith(root)) return refuse(401, 20003, "Authenticate");
    const resource = path.slice(root.length);
    if (resource.includes("/Media/")) {
      return { status: 307, headers: { Location: `${server.url}/cdn/${resource.split("/").at(-1)}` } };
    }
    if (resource === ".json") {
      if (who === "key") return refuse(401, 20003, "Authenticate");
      return { json: { sid: accountSid, friendly_name: "Acme", status: state.status, type: "Full" } };
    }
    if (method === "GET") return { json: { messages: [], page_size: 1 } };
    const form = new URLSearchParams(body);
    const [from, to, text] = ["From", "To", "Body"].map((name) => form.get(name) ?? "") as [string, string, string];
    if (from !== `whatsapp:${whatsappNumber}`)
      return refuse(400, 63007, "Twilio could not find a Channel with the From address");
    if (!/^whatsapp:(\+\d{5,20}|[A-Z]{2}\..+)$/.test(to))
      return refuse(400, 21211, `The 'To' number ${to} is not a valid phone number.`);
    if (text === "") return refuse(400, 21619, "A text message body or media urls must be specified.");
    if (text.length > 1_600)
      return refuse(400, 21617, "The concatenated message body exceeds the 1600 character limit");
    const sid = newSid("SM", next++);
    sent.push({ sid, from, to, body: text });
    return {
      status: 201,
      json: { sid, account_sid: accountSid, from, to, body: text, status: "queued", error_code: null },
    };
  };

  const server = await apiServer(handle);

  /** Calls the webhook as Twilio does. */
  const call = async (params: Readonly<Record<string, string>>, signedUrl?: string): Promise<Response> => {
    const url = state.webhookUrl;
    if (url === null) throw new Error("The number has no webhook");
    const headers = {
      "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
      "X-Twilio-Signature": twilioSignature(authToken, signedUrl ?? url, params),
      "I-Twilio-Idempotency-Token": crypto.randomUUID(),
    };
    return fetch(url, { method: "POST", headers, body: new URLSearchParams(params).toString() });
  };

  /** The parameters of a message of a person. */
  const message = (text: string, more: Readonly<Record<string, string>> = {}): Record<string, string> => {
    const sid = newSid("SM", next++);
    return {
      SmsMessageSid: sid,
      NumMedia: "0",
      ProfileName: "Ada",
      MessageType: "text",
      SmsSid: sid,
      WaId: "393331234567",
      SmsStatus: "received",
      Body: text,
      To: `whatsapp:${whatsappNumber}`,
      NumSegments: "1",
      ReferralNumMedia: "0",
      MessageSid: sid,
      AccountSid: accountSid,
      From: "whatsapp:+393331234567",
      ApiVersion: "2010-04-01",
      ...more,
    };
  };

  return {
    ...server,
    base: server.url,
    sent,
    media,
    state,
    message,
    call,
    say: (text: string, more: Readonly<Record<string, string>> = {}) => call(message(text, more)),
    /** The address of a file, as a webhook names it. */
    mediaUrl: (id: string) => `${server.url}${root}/Messages/${newSid("MM", 1)}/Media/${id}`,
  };
}
