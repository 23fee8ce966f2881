import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { createMessengers } from "../../../src/adapters/messengers/index.ts";
import type {
  Arrival,
  Incoming,
  MessengerAccount,
  MessengerConfig,
  WebhookCall,
  WebhookContent,
} from "../../../src/core/channels/messengers.ts";
import { scrubber } from "../../../src/core/scrub/scrub.ts";
import { TestClock } from "../../clock.ts";

/** A stand-in that ends with the test. */
export async function forTest<S extends { close(): Promise<void> }>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  onTestFinished(() => server.close());
  return server;
}

/** An address without a server. Port 1 would not do: `fetch` refuses that by itself. */
export const nowhere = "http://127.0.0.1:2";

/** For an agent without secrets. */
export const nothingHidden = async () => scrubber([]);

/** An account at a stand-in; without one, at an address without a server. */
export function accountAt(
  config: MessengerConfig,
  base = nowhere,
  clock = new TestClock(),
  guarded?: Parameters<typeof createMessengers>[0]["guarded"],
) {
  const account = createMessengers({ clock, bases: { [config.name]: base }, ...(guarded ? { guarded } : {}) }).account(
    config,
    nothingHidden,
  );
  return { account, clock, signal: new AbortController().signal };
}

/** The recorded payloads of a messenger, by name. */
export function payloads(name: "telegram" | "slack" | "whatsapp"): Record<string, Record<string, unknown>> {
  return JSON.parse(readFileSync(new URL(`../../fixtures/messengers/${name}.json`, import.meta.url), "utf8"));
}

export const bytesOf = (text: string) => new TextEncoder().encode(text);

export function webhookCall(body: string | Uint8Array<ArrayBuffer>, more: Partial<WebhookCall> = {}): WebhookCall {
  const bytes = typeof body === "string" ? bytesOf(body) : body;
  return {
    url: "https://agents.example/webhooks/x",
    headers: new Headers(),
    body: bytes,
    secret: null,
    pathSecret: null,
    ...more,
  };
}

/** The only message in the received content; null for none. */
export function messageIn(received: WebhookContent): Incoming | null {
  if (received.kind !== "arrivals") throw new Error(`It is ${received.kind}`);
  const [arrival, ...others] = received.arrivals;
  if (others.length > 0) throw new Error("Several things arrived");
  if (arrival && !("text" in arrival)) throw new Error("It is no message");
  return arrival ?? null;
}

/** Follows until the test ends; `taken` grows with what arrives. */
export function following(account: MessengerAccount, take?: (arrivals: Arrival[]) => Promise<void>) {
  const taken: Incoming[] = [];
  const controller = new AbortController();
  let connections = 0;
  const store = async (arrivals: Arrival[]) => {
    await take?.(arrivals);
    taken.push(...arrivals.filter((arrival) => "text" in arrival));
  };
  const ended = (
    account.follow?.(store, controller.signal, () => {
      connections += 1;
    }) ?? Promise.reject(new Error("It follows nothing"))
  ).then(
    () => null,
    (reason: unknown) => reason,
  );
  onTestFinished(async () => {
    controller.abort(new Error("The test is over"));
    await ended;
  });
  return { taken, ended, connections: () => connections, stop: () => controller.abort(new Error("Stopped")) };
}
