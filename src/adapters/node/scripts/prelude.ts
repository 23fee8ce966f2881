/** The name under which the prelude imports the script to run. */
export const entryName = "script:entry";

/** The longest texts that leave the sandbox, in UTF-16 units. Outside of it, result and log are limited in bytes, too. */
export const longestResult = 1024 * 1024;
const longestLogText = 64 * 1024;
/** Far more than is shown, since a text is scrubbed before it is cut: a cut secret is not recognized. */
export const longestError = 16_000;

/**
 * The source of a function that runs the script inside the sandbox. It takes the host's `log` and the arguments as
 * JSON. Its promise resolves with the result as JSON, or rejects with JSON of `{ text, stack }`. It has its own
 * references to the builtins, in case the script changes them. It only makes errors readable: no limit outside the
 * sandbox depends on it.
 */
export const prelude = `(async (log, argsText) => {
  "use strict";
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { slice } = String.prototype;
  const [toText, AnyError] = [String, Error];
  const clip = (text, limit) => apply(slice, text, [0, limit]);

  const show = (value) => {
    try {
      if (typeof value === "string") return value;
      if (value instanceof AnyError) return value.message === "" ? "" + value.name : value.name + ": " + value.message;
      const json = typeof value === "object" ? stringify(value) : undefined;
      return json === undefined ? toText(value) : json;
    } catch {
      return "[cannot be shown]";
    }
  };

  const write = (...values) => {
    let text = "";
    for (let i = 0; i < values.length && text.length <= ${longestLogText}; i += 1) text += (i ? " " : "") + show(values[i]);
    log(stringify(clip(text, ${longestLogText + 1})));
  };

  const failure = (text, stack) => stringify({ text: clip(text, ${longestError}), stack: clip(stack, ${longestError}) });

  const describe = (error) => {
    try {
      if (error instanceof AnyError) return failure(show(error), "" + error.stack);
    } catch {}
    return failure("The script threw: " + show(error), "");
  };

  const check = (key, value) => {
    const type = typeof value;
    if (type === "function" || type === "symbol" || type === "bigint") {
      throw (key === "" ? "it" : stringify(key)) + " is a " + type;
    }
    return value;
  };

  const encode = (value) => {
    let json;
    try {
      json = stringify(value, check);
    } catch (error) {
      throw failure("The result cannot be turned into JSON: " + show(error), "");
    }
    if (json === undefined) return "null";
    if (json.length > ${longestResult}) throw failure("The result is larger than 1 MiB", "");
    return json;
  };

  const args = parse(argsText);
  globalThis.args = args;
  globalThis.console = { log: write, info: write, warn: write, error: write, debug: write };
  let value;
  try {
    const { default: main } = await import("${entryName}");
    value = await (typeof main === "function" ? main(args) : main);
  } catch (error) {
    throw describe(error);
  }
  return encode(value);
})`;
