import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { UsageError } from "../../src/cli/arguments.ts";
import { chatsFile, recallChat, rememberChat } from "../../src/cli/chat/memory.ts";
import { readChatOptions } from "../../src/cli/chat/options.ts";
import { explainAnswer, explainFailure } from "../../src/cli/chat/refusal.ts";
import type { ChatEvent } from "../../src/cli/chat/send.ts";
import { showReply } from "../../src/cli/chat/show.ts";

const tea = { url: "http://localhost:4000", slug: "tea" };

describe("what is shown", () => {
  const show = (isTTY: boolean, events: [string, Record<string, unknown>][]) => {
    const screen = { output: "", notes: "", all: "" };
    const sink = (name: "output" | "notes") => ({
      isTTY,
      write(text: string) {
        screen[name] += text;
        screen.all += text;
      },
    });
    const shown = showReply({ output: sink("output"), notes: sink("notes"), colours: false });
    for (const [event, data] of events) shown.event({ event, id: null, data } satisfies ChatEvent);
    shown.end();
    return screen;
  };
  const turn: [string, Record<string, unknown>][] = [
    ["hook-execution", { toolName: "getState", event: "conversation_start", success: true }],
    ["reasoning-delta", { text: "Let me " }],
    ["reasoning-delta", { text: "look." }],
    ["text-delta", { text: "One moment" }],
    ["tool-call", { id: "1", name: "brew", args: { minutes: 3 } }],
    ["tool-result", { id: "1", result: { error: "no\nwater" } }],
    ["text-delta", { text: ": no tea." }],
  ];

  test("is a line for each thing on a terminal", () => {
    expect(show(true, turn).all).toBe(
      [
        "· getState on conversation_start",
        "Let me look.",
        "One moment",
        '→ brew {"minutes":3}',
        '← brew {"error":"no\\nwater"}',
        ": no tea.",
        "",
      ].join("\n"),
    );
  });

  test("outputs the text unchanged, and a last line break, when the output is no terminal", () => {
    expect(show(false, turn).output).toBe("One moment: no tea.\n");
    expect(show(false, [["text-delta", { text: "\u001b[2J\n" }]]).output).toBe("\u001b[2J\n");
    expect(show(false, []).output).toBe("");
  });

  test("can't control a terminal, and has a limit", () => {
    const { all } = show(true, [
      ["text-delta", { text: "a\u001b[2Jb\r\u0007\u009bc\td" }],
      ["tool-call", { id: "1", name: "\u001b]0;x", args: "y".repeat(5000) }],
    ]);
    expect(all).toMatch(/^a\[2Jbc\td\n→ \]0;x y{400}…\n$/);
  });
});

describe("the memory of chats", () => {
  test("is stored by address and slug, for the user only; a broken file counts as empty", () => {
    const directory = mkdtempSync(join(tmpdir(), "chats-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = chatsFile({ XDG_CONFIG_HOME: directory });
    expect(recallChat(file, tea)).toBeNull();
    rememberChat(file, tea, "c1");
    rememberChat(file, { ...tea, slug: "coffee" }, "c2");
    rememberChat(file, tea, "c3");
    expect(recallChat(file, tea)).toBe("c3");
    expect(recallChat(file, { ...tea, url: "http://other" })).toBeNull();
    expect(Object.values(JSON.parse(readFileSync(file, "utf8")))).toEqual(["c2", "c3"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, "agent-engine")).mode & 0o777).toBe(0o700);
    writeFileSync(file, "[1,");
    expect(recallChat(file, tea)).toBeNull();
  });

  test("is in DATA_DIR when that is set", () => {
    expect(chatsFile({ DATA_DIR: "/data", XDG_CONFIG_HOME: "/config" })).toBe(join("/data", "chats.json"));
    expect(chatsFile({ HOME: "/home/ada" })).toBe(join("/home/ada", ".config", "agent-engine", "chats.json"));
  });
});

describe("options", () => {
  test("come from the flags, then the environment, then the defaults", () => {
    expect(readChatOptions("tea", {}, {})).toEqual({ ...tea, key: undefined, fresh: false, json: false });
    const environment = { BASE_URL: "https://tea.example/", PORT: "5", AGENT_API_KEY: " key \n" };
    expect(readChatOptions("tea", { new: true }, environment)).toMatchObject({
      url: "https://tea.example",
      key: "key",
      fresh: true,
    });
    expect(readChatOptions("tea", { url: "http://x:1/", key: "other" }, environment)).toMatchObject({
      url: "http://x:1",
      key: "other",
    });
    expect(readChatOptions("tea", {}, { HOST: "0.0.0.0", PORT: "4001" }).url).toBe("http://localhost:4001");
  });

  test.each([
    ["Not a slug", {}, {}, /no agent slug/],
    ["..", {}, {}, /no agent slug/],
    ["tea", { url: "localhost:4000" }, {}, /^--url must be an http/],
    ["tea", { url: "" }, {}, /^--url must not be empty$/],
    ["tea", {}, { BASE_URL: "tea" }, /^BASE_URL must/],
    ["tea", {}, { PORT: "0" }, /--url$/],
    ["tea", { key: "schlüssel" }, {}, /^The key holds characters that no key has$/],
  ])("%j %j %j is refused", (slug, flags, environment, message) => {
    expect(() => readChatOptions(slug, flags, environment)).toThrow(message);
    expect(() => readChatOptions(slug, flags, environment)).toThrow(UsageError);
  });
});

describe("refusals say what to do", () => {
  const ours = (statusCode: number, message: string, headers: Record<string, string> = {}) =>
    Response.json({ statusCode, message, error: "x" }, { status: statusCode, headers });

  test.each([
    [ours(401, "Missing Bearer token"), false, "tea asks for its key: set AGENT_API_KEY to it"],
    [ours(401, "Invalid API key"), true, /^tea refuses the key \(Invalid API key\): set AGENT_API_KEY/],
    [ours(401, "Auth enabled but no API key configured"), true, /has none: save its secret auth_api_key/],
    [ours(404, "Unknown model"), true, /^There is no agent tea at http:\/\/localhost:4000, or/],
    [ours(429, "Too many messages wait", { "Retry-After": "7" }), true, "Too many messages wait: try again in 7 s"],
    [ours(429, "try again in 7 seconds", { "Retry-After": "7" }), true, "try again in 7 seconds"],
    [new Response("<html>", { status: 404 }), true, /is no Agent Engine \(status 404\): check --url/],
    [new Response("{}", { status: 200 }), true, /is no Agent Engine \(status 200\)/],
    [
      new Response(null, { status: 301, headers: { Location: "https://x/" } }),
      true,
      /redirects to https:\/\/x\/: name/,
    ],
  ])("an answer", async (response, withKey, message) => {
    expect((await explainAnswer(response, tea, withKey)).message).toMatch(message);
  });

  test.each([
    ["ECONNREFUSED", /No server answers at http:\/\/localhost:4000: start it with agent-engine serve/],
    ["ENOTFOUND", /is not known: check --url/],
    ["UND_ERR_CONNECT_TIMEOUT", /does not answer/],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", /can't be reached \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
  ])("a failure with %s", (code, message) => {
    const failure = Object.assign(new Error("x"), { code });
    const cause = code === "ECONNREFUSED" ? new AggregateError([failure]) : failure;
    expect(explainFailure(new TypeError("fetch failed", { cause }), tea).message).toMatch(message);
  });
});
