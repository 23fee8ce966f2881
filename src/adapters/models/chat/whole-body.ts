import { APICallError } from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../../core/json.ts";

/** The longest body, in characters: the same limit as for one event of a stream. */
const longestBody = 8 * 1024 * 1024;

/** How many characters of a wrong body are logged. */
const excerptLength = 2_000;

/** Collects a body that is one JSON value instead of a stream, since some servers do not stream. */
export class WholeBody {
  #pieces: string[] = [];
  #length = 0;
  /** Null until the first non-blank character. */
  #isJson: boolean | null = null;

  /** Adds a piece of the body. Returns false when the body is a stream, whose lines begin with field names. */
  take(text: string): boolean {
    this.#isJson ??= /\S/.test(text) ? /^\s*[[{]/.test(text) : null;
    if (!this.#isJson) return false;
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length > longestBody)
      throw new Error(`The provider sent more than ${longestBody} characters in one body`);
    return true;
  }

  /** The completion, or the error instead of it. Throws an `APICallError` for any other body. */
  end(url: string): JsonObject {
    const text = this.#pieces.join("");
    const body = parsed(text);
    if (isObject(body) && (body.choices || body.error || body.object === "error")) return body;
    throw new APICallError({
      message: "The provider answered with JSON that is no chat completion",
      url,
      requestBodyValues: undefined,
      statusCode: 200,
      isRetryable: false,
      responseBody: text.slice(0, excerptLength),
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
