/** What the prelude imports to get the script that is run. */
export const entryName = "script:entry";

/** How long a text may be that leaves the sandbox, in UTF-16 units; outside, the result and logs are checked in bytes. */
export const longestResult = 1024 * 1024;
export const longestLogText = 64 * 1024;
/** Far more than is shown: whoever shows it cuts it once it is scrubbed, since of a secret cut before, a part would stay. */
export const longestError = 16_000;

/**
 * Runs in the sandbox before the script, and keeps what it needs of the language, so that no change by the script
 * breaks it. It is for good messages only: nothing outside relies on it. A function of the host's `log` and of the
 * arguments as JSON; its promise is fulfilled with the result as JSON, or rejected with JSON of `{ text, stack }`.
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
