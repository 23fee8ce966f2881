import { describe, expect, test } from "vitest";
import {
  describeCommand,
  describeVerb,
  parseCommand,
  textFlag,
  UsageError,
  type Verb,
} from "../../src/cli/arguments.ts";
import { nearest } from "../../src/core/text/nearest.ts";

const verbs = {
  chat: { summary: "Chat.", argument: { name: "slug", description: "An agent." }, flags: {} },
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
    [["serv"], 'Unknown command "serv"; did you mean agent-engine serve?'],
    [["QuickStrat"], 'Unknown command "QuickStrat"; did you mean agent-engine quickstart?'],
    [["constructor"], 'Unknown command "constructor"; there are: chat, serve, quickstart'],
    [["chat"], "agent-engine chat needs <slug>; see agent-engine chat --help"],
    [["chat", ""], "agent-engine chat needs <slug>; see agent-engine chat --help"],
    [["chat", "tea", "cup"], "Unexpected argument 'cup'; see agent-engine chat --help"],
    [["quickstart", "--emial=a@b.c"], "Unknown option '--emial'; did you mean --email? see agent-engine"],
    [["--port", "1"], "Unknown option '--port'; see agent-engine serve --help"],
    [["quickstart", "--email"], "Option '--email <value>' argument missing; see agent-engine quickstart --help"],
    [["quickstart", "--new-key=1"], "Option '--new-key' does not take an argument; see agent-engine quickstart --help"],
    [["quickstart", "now"], "Unexpected argument 'now'; see agent-engine quickstart --help"],
  ])("%j is refused in one line", (line, message) => {
    expect(refusal(...line)).toMatch(message);
    expect(refusal(...line)).not.toContain("\n");
  });

  test("takes the argument of its verb, before or behind the flags", () => {
    expect(parseCommand(["chat", "tea"], verbs)).toMatchObject({ name: "chat", argument: "tea" });
    expect(parseCommand(["chat", "--help"], verbs)).toMatchObject({ flags: { help: true }, argument: undefined });
    expect(parseCommand(["quickstart", "--new-key"], verbs).argument).toBeUndefined();
  });

  test("an empty text is refused", () => {
    expect(() => textFlag({ email: "" }, "email")).toThrow("--email must not be empty");
    expect(textFlag({}, "email")).toBeUndefined();
  });
});

test.each([
  ["doctr", "doctor"],
  ["rotate", "rotate-key"],
  ["reset", "reset-password"],
  ["caht", "chat"],
  ["up", undefined],
  ["", undefined],
])("the word nearest to %j is %j", (word, name) => {
  expect(nearest(word, ["serve", "chat", "doctor", "rotate-key", "reset-password"])).toBe(name);
});

test("help names every command, every flag and the argument", () => {
  expect(describeVerb("chat", verbs.chat)).toMatch(/agent-engine chat <slug> \[options\][\s\S]*<slug> +An agent\./);
  expect(describeCommand(verbs)).toMatch(/serve +Serve\.\n +quickstart +Quick\./);
  expect(describeVerb("quickstart", verbs.quickstart)).toMatch(/--email <email> +E-mail\.\n +--new-key +New key\./);
});
