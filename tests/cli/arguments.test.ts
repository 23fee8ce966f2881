import { describe, expect, test } from "vitest";
import {
  describeCommand,
  describeVerb,
  parseCommand,
  textFlag,
  UsageError,
  type Verb,
} from "../../src/cli/arguments.ts";

const verbs = {
  serve: { summary: "Serve.", flags: {} },
  quickstart: {
    summary: "Quick.",
    flags: {
      email: { type: "string", description: "E-mail." },
      "new-key": { type: "boolean", description: "New key." },
    },
  },
} as const satisfies Record<string, Verb>;

const refusal = (...line: string[]) => {
  try {
    parseCommand(line, verbs);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return undefined;
};

describe("a command line", () => {
  test("is `serve` unless it names a command", () => {
    expect(parseCommand([], verbs)).toMatchObject({ name: "serve", named: false });
    expect(parseCommand(["--version"], verbs)).toMatchObject({ name: "serve", named: false, flags: { version: true } });
    expect(parseCommand(["quickstart", "--email=a@b.c", "--new-key"], verbs)).toMatchObject({
      name: "quickstart",
      named: true,
      flags: { email: "a@b.c", "new-key": true },
    });
  });

  test.each([
    [["serv"], 'Unknown command "serv"; there are: serve, quickstart'],
    [["constructor"], 'Unknown command "constructor"; there are: serve, quickstart'],
    [["--port", "1"], "Unknown option '--port'; see agent-engine serve --help"],
    [["quickstart", "--email"], "Option '--email <value>' argument missing; see agent-engine quickstart --help"],
    [["quickstart", "--new-key=1"], "Option '--new-key' does not take an argument; see agent-engine quickstart --help"],
    [["quickstart", "now"], "Unexpected argument 'now'; see agent-engine quickstart --help"],
  ])("%j is refused in one line", (line, message) => {
    expect(refusal(...line)).toMatch(message);
    expect(refusal(...line)).not.toContain("\n");
  });

  test("an empty text is refused", () => {
    expect(() => textFlag({ email: "" }, "email")).toThrow("--email must not be empty");
    expect(textFlag({}, "email")).toBeUndefined();
  });
});

test("help names every command and every flag", () => {
  expect(describeCommand(verbs)).toMatch(/serve +Serve\.\n +quickstart +Quick\./);
  expect(describeVerb("quickstart", verbs.quickstart)).toMatch(/--email <email> +E-mail\.\n +--new-key +New key\./);
});
