import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Dispatcher } from "undici";
import type { Bytes } from "../../excerpt.ts";
import type { Post } from "../../models/post.ts";
import { plainHeaders } from "../plain-headers.ts";

type Piece = IteratorResult<Uint8Array, unknown>;

interface PendingPost {
  resolve(answer: Awaited<ReturnType<Post>>): void;
  reject(reason: unknown): void;
  signal: AbortSignal | undefined;
  /** Called once, when the connection brings no more data for this response. */
  over(healthy: boolean): void;
}

/** How many bytes of a body are buffered at most before they are read. */
const mostAhead = 64 * 1024;

/** Some servers compress although the request asks them not to. */
const decoders = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/**
 * The response to one post. All bytes of its body that have arrived are read in one piece, and not with one promise
 * each, since a server may split its response into single bytes.
 */
export class Answer implements Dispatcher.DispatchHandler, Bytes {
  readonly #asked: PendingPost;
  readonly #stop = () => this.#end(this.#asked.signal?.reason);
  /** Null before the post is sent, and after the end. */
  #controller: Dispatcher.DispatchController | null = null;
  #decoder: Transform | undefined;
  #pieces: Uint8Array[] = [];
  #ahead = 0;
  #ended: { error: unknown } | null = null;
  #waiting: PromiseWithResolvers<Piece> | null = null;

  constructor(asked: PendingPost) {
    this.#asked = asked;
    asked.signal?.addEventListener("abort", this.#stop);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) this.#letGo();
  }

  onResponseStart(_: unknown, status: number, headers: Dispatcher.ResponseData["headers"]): void {
    // A provisional response, which another one follows.
    if (status < 200) return;
    this.#decoder = this.#decoderOf(String(headers["content-encoding"]));
    this.#asked.resolve({ status, headers: plainHeaders(headers), body: this });
  }

  onResponseData(_: unknown, piece: Uint8Array): void {
    if (this.#decoder) this.#decoder.write(piece);
    else this.#take(piece);
  }

  onResponseEnd(): void {
    this.#controller = null;
    this.#asked.over(true);
    if (this.#decoder) this.#decoder.end();
    else this.#end(null);
  }

  onResponseError(_: unknown, error: Error): void {
    this.#controller = null;
    this.#asked.over(false);
    this.#end(error.name === "HTTPParserError" ? noHttp(error) : error);
  }

  read(): Promise<Piece> {
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    this.#settle();
    return promise;
  }

  async cancel(): Promise<void> {
    this.#end(null);
  }

  #decoderOf(coding: string): Transform | undefined {
    return decoders
      .get(coding)?.()
      .on("data", (piece: Uint8Array) => this.#take(piece))
      .once("end", () => this.#end(null))
      .on("error", (error) => this.#end(error));
  }

  #take(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#ahead += piece.length;
    this.#settle();
    if (this.#ahead <= mostAhead) return;
    this.#controller?.pause();
    this.#decoder?.pause();
  }

  #settle(): void {
    const reading = this.#waiting;
    if (!reading) return;
    const [piece, ...more] = this.#pieces;
    if (!piece && !this.#ended) return;
    this.#waiting = null;
    if (piece) {
      this.#pieces = [];
      this.#ahead = 0;
      if (this.#controller?.paused) this.#controller.resume();
      if (this.#decoder?.isPaused()) this.#decoder.resume();
      reading.resolve({ done: false, value: more.length === 0 ? piece : Buffer.concat([piece, ...more]) });
    } else if (this.#ended?.error) reading.reject(this.#ended.error);
    else reading.resolve({ done: true, value: undefined });
  }

  #end(error: unknown): void {
    if (this.#ended) return;
    this.#ended = { error };
    this.#asked.signal?.removeEventListener("abort", this.#stop);
    this.#letGo();
    this.#decoder?.destroy();
    this.#asked.reject(error);
    this.#settle();
  }

  /** Closes the connection if it may bring more data. */
  #letGo(): void {
    this.#controller?.abort(new Error("The answer was let go of"));
  }
}

/** An error of undici's parser, without the received bytes, and with the code that undici leaves out. */
const noHttp = ({ message }: Error) => Object.assign(new Error(message), { code: "HPE_INVALID" });
