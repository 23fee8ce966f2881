import { createHmac } from "node:crypto";
import type { ApiAnswer, ApiRequest } from "./api-server.ts";
import { apiServer } from "./api-server.ts";
import { acceptWebSocket, type Peer } from "./web-socket.ts";

type Fields = Record<string, unknown>;

interface SentToSlack {
  ts: string;
  channel: string;
  thread: string | null;
  text: string;
}

export const slackTokens = {
  botToken: "xoxb-1111-2222-exampleBotToken",
  signingSecret: "8f742231b10e8888abcd99yyyzzz85a5",
  appToken: "xapp-1-A1111-2222-exampleAppToken",
};
export const slackBotId = "U0LAN0Z89";

/** The headers of a request that Slack makes. */
export function slackHeaders(body: string, at: number, secret = slackTokens.signingSecret): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  return {
    "Content-Type": "application/json",
    "X-Slack-Request-Timestamp": timestamp,
    "X-Slack-Signature": `v0=${signature}`,
  };
}

/** The body of a call of the Events API. */
export const slackEvent = (event: Fields, id = "Ev0PV52K21"): Fields => ({
  token: "XXYYZZ",
  team_id: "T123ABC456",
  api_app_id: "A123ABC456",
  event,
  type: "event_callback",
  authorizations: [{ enterprise_id: null, team_id: "T123ABC456", user_id: slackBotId, is_bot: true }],
  event_id: id,
  event_time: 1_767_225_600,
});

const refuse = (error: string, more: Fields = {}): ApiAnswer => ({ json: { ok: false, error, ...more } });
const known = new Set([
  "auth.test",
  "chat.postMessage",
  "files.info",
  "apps.connections.open",
  "conversations.replies",
]);

/** A Slack workspace with one app. Events are sent over its socket if one is open, else to `requestUrl`. */
export async function slackServer({ now = () => Date.now() } = {}) {
  const sent: SentToSlack[] = [];
  const files = new Map<string, { bytes: Uint8Array; mime: string }>();
  /** The first messages of threads, by their `ts`. */
  const roots = new Map<string, Fields>();
  const peers: Peer[] = [];
  const acknowledged: string[] = [];
  const unacknowledged = new Map<string, Fields>();
  const state = { requestUrl: null as string | null, channels: null as Set<string> | null, greets: true };
  let [nextTs, nextEvent, nextEnvelope] = [1, 1, 1];
  const newTs = () => `1767225600.${String(nextTs++).padStart(6, "0")}`;

  const handle = ({ method, path, headers, body }: ApiRequest): ApiAnswer => {
    const bearer = headers.authorization?.replace("Bearer ", "");
    if (method === "GET") {
      // A browser's sign-in page, as Slack shows it to a token without rights.
      if (bearer !== slackTokens.botToken) {
        return {
          bytes: "<!DOCTYPE html><title>Sign in</title>",
          headers: { "Content-Type": "text/html; charset=utf-8" },
        };
      }
      const file = files.get(path);
      return file ? { bytes: file.bytes, headers: { "Content-Type": file.mime } } : { status: 404 };
    }
    const name = path.replace(/^\/api\//, "");
    if (!known.has(name)) return refuse("unknown_method");
    const needed = name === "apps.connections.open" ? slackTokens.appToken : slackTokens.botToken;
    if (bearer !== needed) return refuse("invalid_auth");
    const params = new URLSearchParams(body);
    if (name === "auth.test") {
      const url = "https://acme.slack.com/";
      return { json: { ok: true, url, team: "Acme", user: "helper", team_id: "T123ABC456", user_id: slackBotId } };
    }
    if (name === "apps.connections.open") {
      return { json: { ok: true, url: `${server.url.replace("http", "ws")}/link/?ticket=1` } };
    }
    if (name === "files.info") {
      const id = params.get("file") ?? "";
      return files.has(`/files-pri/${id}`)
        ? { json: { ok: true, file: { id, url_private: `${server.url}/files-pri/${id}` } } }
        : refuse("file_not_found");
    }
    const channel = params.get("channel") ?? "";
    if (name === "conversations.replies") {
      const ts = params.get("ts") ?? "";
      const root = roots.get(ts);
      if (!root) return refuse("thread_not_found");
      return { json: { ok: true, messages: [{ type: "message", ts, thread_ts: ts, reply_count: 1, ...root }] } };
    }
    if (state.channels && !state.channels.has(channel)) return refuse("channel_not_found");
    if ((params.get("text") ?? "").trim() === "") return refuse("no_text");
    const message = { ts: newTs(), channel, thread: params.get("thread_ts"), text: params.get("text") ?? "" };
    sent.push(message);
    return { json: { ok: true, channel, ts: message.ts, message: { type: "message", text: message.text } } };
  };

  const server = await apiServer(handle);
  server.server.on("upgrade", (request, socket) => {
    const peer = acceptWebSocket(request, socket, {
      onText(text) {
        const { envelope_id } = JSON.parse(text) as { envelope_id: string };
        acknowledged.push(envelope_id);
        unacknowledged.delete(envelope_id);
      },
      onGone: () => void peers.splice(peers.indexOf(peer), 1),
    });
    peers.push(peer);
    const info = { app_id: "A123ABC456" };
    if (state.greets) {
      peer.send(JSON.stringify({ type: "hello", num_connections: peers.length, connection_info: info }));
    }
  });

  const overSocket = (payload: Fields) => {
    const id = `envelope-${nextEnvelope++}`;
    const envelope = { envelope_id: id, type: "events_api", accepts_response_payload: false, payload };
    unacknowledged.set(id, envelope);
    peers.at(-1)?.send(JSON.stringify(envelope));
  };

  /** Calls the Request URL with a signed body. */
  const call = async (payload: Fields, more: Record<string, string> = {}): Promise<Response> => {
    const body = JSON.stringify(payload);
    if (state.requestUrl === null) throw new Error("The app has no Request URL");
    return fetch(state.requestUrl, { method: "POST", headers: { ...slackHeaders(body, now()), ...more }, body });
  };

  /** Sends an event; answers the status of the Request URL, or null when it was sent over the socket. */
  const bring = async (event: Fields): Promise<number | null> => {
    const payload = slackEvent(event, `Ev${nextEvent++}`);
    if (peers.length > 0) {
      overSocket(payload);
      return null;
    }
    const response = await call(payload);
    await response.arrayBuffer();
    return response.status;
  };

  return {
    ...server,
    base: `${server.url}/api`,
    sent,
    files,
    roots,
    state,
    /** The open sockets, the newest last. */
    peers,
    acknowledged,
    unacknowledged,
    bring,
    call,
    newTs,
    /** A direct message to the bot; `more` are other members of the event. */
    say: (text: string, more: Fields = {}) => {
      const ts = newTs();
      const where = { channel: "D024BE91L", channel_type: "im" };
      return bring({ type: "message", ...where, user: "U2147483697", text, ts, event_ts: ts, ...more });
    },
    /** Sends a message that is no event over the newest socket. */
    tell: (message: Fields) => peers.at(-1)?.send(JSON.stringify(message)),
    /** Sends unacknowledged events again. */
    redeliver() {
      for (const envelope of unacknowledged.values()) peers.at(-1)?.send(JSON.stringify(envelope));
    },
  };
}
