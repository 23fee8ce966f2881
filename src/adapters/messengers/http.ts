import { FileTooLarge, MessengerError } from "../../core/channels/messengers.ts";
import { readBytes } from "../../core/files/read-bytes.ts";
import type { Clock } from "../../core/ports.ts";
import type { Scrub } from "../../core/scrub/scrub.ts";
import { orAborted, withinTime } from "../../core/time/deadline.ts";
import { codeOf, wasNeverSent } from "../failed-fetch.ts";

interface Options {
  /** The messenger's name in error texts. */
  name: string;
  clock: Clock;
  fetch: typeof globalThis.fetch;
  /** Removes the account's credentials from a text. */
  scrub: Scrub;
}

interface Call {
  url: string;
  method: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
  /** The limit of the whole request; 10 seconds unless given. */
  timeoutMs?: number;
  /** Whether the request sends a message, which may have been sent even if the response is lost. */
  isSend?: boolean;
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** Requests to one messenger. They follow no redirect, and their errors contain no address. */
export interface Http {
  /**
   * Sends a request and returns the response, whatever its status: at most 1 MB of it, without credentials, which a
   * proxy may repeat.
   */
  ask(call: Call): Promise<Answer>;
  /** Passes a response's head and bytes, at most `maxBytes`, to `judge`. Rejects with `judge`'s error. */
  download<T>(call: Call, maxBytes: number, judge: (file: FileResponse) => Promise<T> | T): Promise<T>;
}

export interface FileResponse {
  status: number;
  headers: Headers;
  /** Reads the body. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  /** The error for a response that is not the requested file. */
  refusal(): MessengerError;
}

const answerMs = 10_000;
const downloadMs = 30_000;
const answerBytes = 1_000_000;

export function messengerHttp({ name, clock, fetch, scrub }: Options): Http {
  const request = <T>(call: Call, ms: number, read: (response: Response) => Promise<T>): Promise<T> => {
    const mayBeDone = call.isSend === true;
    const tooLate = new MessengerError(`${name} did not answer within ${ms / 1_000} seconds`, { mayBeDone });
    const asked = withinTime(clock, ms, tooLate, async (deadline) => {
      const { url, method, headers = {}, body } = call;
      const signal = AbortSignal.any([call.signal, deadline]);
      const init = { method, headers, redirect: "manual", signal } as const;
      const response = await fetch(url, body === undefined ? init : { ...init, body }).catch((cause: unknown) => {
        throw unreachable(name, cause, mayBeDone);
      });
      try {
        return await read(response);
      } catch (error) {
        if (error instanceof MessengerError) throw error;
        throw new MessengerError(`The answer of ${name} broke off`, { mayBeDone: mayBeDone && response.ok });
      } finally {
        // Not awaited, since the server may never settle the cancel.
        if (!response.bodyUsed) response.body?.cancel().catch(() => {});
      }
    });
    return orAborted(asked, call.signal);
  };

  return {
    ask: (call) =>
      request(call, call.timeoutMs ?? answerMs, async (response) => {
        const { status, headers, ok } = response;
        const tooLong = new MessengerError(`${name} answered with more than 1 MB`, {
          isPermanent: true,
          mayBeDone: call.isSend === true && ok,
        });
        const text = new TextDecoder().decode(await bytesOf(response, answerBytes, tooLong));
        return { status, headers, text: scrub(text) };
      }),

    download: (call, maxBytes, judge) =>
      request(call, call.timeoutMs ?? downloadMs, async (response) => {
        const { status, headers } = response;
        const refused = { isPermanent: isPermanent(status), retryAfterMs: retryAfterMs(headers, clock.now()) };
        return judge({
          status,
          headers,
          bytes: () => bytesOf(response, maxBytes, new FileTooLarge(maxBytes)),
          refusal: () => new MessengerError(`${name} did not give the file (${status})`, refused),
        });
      }),
  };
}

async function bytesOf({ body, headers }: Response, most: number, tooLong: Error): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(headers.get("Content-Length") ?? 0) > most) throw tooLong;
  return body ? readBytes(body, most, () => tooLong) : new Uint8Array();
}

function unreachable(name: string, cause: unknown, isSend: boolean): MessengerError {
  const code = codeOf(cause);
  const mayBeDone = isSend && !wasNeverSent(cause);
  return new MessengerError(`${name} cannot be reached${code === null ? "" : ` (${code})`}`, { mayBeDone });
}

/** The milliseconds of a `Retry-After` in seconds or as a date; null without one. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const value = headers.get("Retry-After")?.trim() ?? "";
  if (/^\d{1,6}$/.test(value)) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Whether this status is permanent: a repeated request would get it again. */
export const isPermanent = (status: number) => status < 500 && status !== 429 && status !== 408;
