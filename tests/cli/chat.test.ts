import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { chat } from "../../src/cli/chat.ts";
import { type Cut, cuttingProxy } from "../cutting-proxy.ts";
import { harness } from "../harness.ts";
import { finish, gate, reasoning, reply, scriptedModel, text, textDelta } from "../scripted-model.ts";
import { serveAnother } from "../second-server.ts";

const ctrlC = "\u0003";
const ctrlD = "\u0004";

function configuration(): { XDG_CONFIG_HOME: string } {
  const directory = mkdtempSync(join(tmpdir(), "chat-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return { XDG_CONFIG_HOME: directory };
}

type Environment = Record<string, string>;

/** A chat whose terminal is the test: `typed` is the keyboard's input, `sees` waits for the screen. */
function sit(slug: string, environment: Environment, flags: Record<string, boolean> = {}) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const screen = Object.assign(new PassThrough(), { isTTY: true });
  let shown = "";
  let looked = 0;
  screen.on("data", (bytes: Buffer) => {
    shown += bytes;
  });
  const ended = chat(slug, flags, { NO_COLOR: "1", ...environment }, { input, output: screen, notes: screen });
  ended.catch(() => {});
  return {
    ended,
    shown: () => shown,
    typed: (keys: string) => void input.write(keys),
    /** Waits for a text after all text seen before. */
    async sees(wanted: string) {
      await expect.poll(() => shown.indexOf(wanted, looked), { interval: 5 }).toBeGreaterThan(-1);
      looked = shown.indexOf(wanted, looked) + wanted.length;
    },
  };
}

async function pipe(slug: string, environment: Environment, message: string, flags: Record<string, boolean> = {}) {
  const output = new PassThrough();
  const notes = new PassThrough();
  const input = new PassThrough();
  input.end(message);
  const code = await chat(slug, flags, environment, { input, output, notes });
  return { code, output: String(output.read() ?? ""), notes: String(notes.read() ?? "") };
}

const userTexts = (prompt: { role: string; content: unknown }[]) =>
  prompt.filter(({ role }) => role === "user").map(({ content }) => (content as { text: string }[])[0]?.text);

test("asks for a key when needed, shows reasoning and text, continues, and leaves by Ctrl+D", async () => {
  const model = scriptedModel([{ parts: [reasoning("Hm."), text("Hello", "!"), finish()] }, reply("Again.")]);
  const h = await harness({ model });
  const { slug, key } = await h.agent();
  const desk = sit(slug, { BASE_URL: await h.listen(), ...configuration() });
  await desk.sees("> ");
  desk.typed("Hi\r");
  await desk.sees("(not shown): ");
  desk.typed(`${key}\r`);
  await desk.sees("Hm.\nHello!\n");
  await desk.sees("> ");
  desk.typed("two\rlines\r");
  await desk.sees("Again.\n");
  await desk.sees("> ");
  desk.typed("\u001b[A\u001b[A\u001b[A");
  await desk.sees("Hi");
  desk.typed(`\u0015${ctrlD}`);
  expect(await desk.ended).toBe(0);
  expect(desk.shown()).not.toContain(key);
  expect(userTexts(model.calls[1]?.prompt ?? [])).toEqual(["Hi", "two\nlines"]);
});

test("Ctrl+C ends a reply and not the chat; text typed meanwhile stays; at the prompt it leaves", async () => {
  const halfway = gate();
  const model = scriptedModel([
    { parts: [{ type: "text-start", id: "text" }, textDelta("Hel"), halfway.promise] },
    reply("Fine."),
  ]);
  const h = await harness({ model });
  const { slug, key } = await h.agent();
  const desk = sit(slug, { BASE_URL: await h.listen(), AGENT_API_KEY: key, ...configuration() });
  desk.typed("Hi\r");
  await desk.sees("Hel");
  desk.typed(`typed ahead${ctrlC}`);
  await desk.sees("\nInterrupted.\n");
  await desk.sees("typed ahead");
  expect(desk.shown().match(/typed ahead/g)).toHaveLength(1);
  desk.typed(ctrlC);
  expect(await desk.ended).toBe(130);
  halfway.open();
});

test("/new begins another chat, /help and unknown commands say what there is, // sends a slash, /exit leaves", async () => {
  const model = scriptedModel((_call, index) => reply(`Reply ${index}.`));
  const h = await harness({ model });
  const { slug, key } = await h.agent();
  const environment = { BASE_URL: await h.listen(), AGENT_API_KEY: key, ...configuration() };
  const desk = sit(slug, environment);
  const types = async (line: string, answer: string) => {
    await desk.sees("> ");
    desk.typed(`${line}\r`);
    await desk.sees(answer);
  };
  await types("One", "Reply 0.\n");
  await types("/help", "/new   begins another chat\n/exit  leaves, as Ctrl+D does\n");
  await types("/clear all", "There is no /clear; there are /help, /new and /exit. To send it, type //clear\n");
  await types("//clear all", "Reply 1.\n");
  await types("/etc\rand more", "Reply 2.\n");
  await types("/new ", "Another chat begins.\n");
  await types("Two", "Reply 3.\n");
  await desk.sees("> ");
  desk.typed("/exit\r");
  expect(await desk.ended).toBe(0);
  await pipe(slug, environment, "/help");
  expect(model.calls.map(({ prompt }) => userTexts(prompt))).toEqual([
    ["One"],
    ["One", "/clear all"],
    ["One", "/clear all", "/etc\nand more"],
    ["Two"],
    ["Two", "/help"],
  ]);
});

test("a wrong agent ends it; a wrong key is asked for again, but not for ever", async () => {
  const h = await harness();
  const { slug } = await h.agent();
  const BASE_URL = await h.listen();
  const lost = sit("nobody", { BASE_URL, ...configuration() });
  lost.typed("Hi\r");
  await expect(lost.ended).rejects.toThrow("There is no agent nobody");

  const guessing = sit(slug, { BASE_URL, ...configuration() });
  guessing.typed("Hi\r");
  for (const guess of ["one", "two", "three"]) {
    await guessing.sees("(not shown): ");
    guessing.typed(`${guess}\r`);
  }
  await expect(guessing.ended).rejects.toThrow("refuses the key (Invalid API key)");
});

test("standard input is one message, and the next run continues the chat unless told otherwise", async () => {
  const model = scriptedModel((_call, index) => reply(`Reply ${index}.`));
  const h = await harness({ model });
  const { slug, key } = await h.agent();
  const environment = { BASE_URL: await h.listen(), AGENT_API_KEY: key, ...configuration() };
  expect(await pipe(slug, environment, "One\n")).toEqual({ code: 0, output: "Reply 0.\n", notes: "" });
  await pipe(slug, environment, "Two");
  await pipe(slug, environment, "Three", { new: true });
  await pipe(slug, environment, "Four");
  expect(model.calls.map(({ prompt }) => userTexts(prompt))).toEqual([
    ["One"],
    ["One", "Two"],
    ["Three"],
    ["Three", "Four"],
  ]);
  const file = readFileSync(join(environment.XDG_CONFIG_HOME, "agent-engine", "chats.json"), "utf8");
  expect(file).not.toContain(key);
});

test("as JSON the events come whole, one a line; a failed reply is refused with its message", async () => {
  const h = await harness({ model: scriptedModel([reply("Yes."), { fail: new Error("broken inside") }]) });
  const { slug, key } = await h.agent();
  const environment = { BASE_URL: await h.listen(), AGENT_API_KEY: key, ...configuration() };
  const { output } = await pipe(slug, environment, "Well?", { json: true });
  const events = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.map(({ event }) => event)).toEqual(["step-start", "text-delta", "step-finish", "done"]);
  expect(events[1]).toMatchObject({ id: expect.stringMatching(/:2$/), data: { text: "Yes." } });

  await expect(pipe(slug, environment, "And now?")).rejects.toThrow("Model provider error");
  await expect(pipe(slug, environment, " \n")).rejects.toThrow("Standard input is empty");
});

describe("a connection that breaks", () => {
  /** A terminal in front of a proxy that cuts connections. */
  async function far(model: ReturnType<typeof scriptedModel>, cuts: Cut[] | ((index: number) => Cut)) {
    const h = await harness({ model });
    const { slug, key } = await h.agent();
    const proxy = await cuttingProxy(await h.listen(), (_, index) =>
      typeof cuts === "function" ? cuts(index) : (cuts[index] ?? null),
    );
    return { h, proxy, slug, environment: { BASE_URL: proxy.url, AGENT_API_KEY: key, ...configuration() } };
  }

  test("is reported once, and the reply continues; in a pipe it is complete and alone", async () => {
    const model = scriptedModel(() => ({ parts: [text("One ", "two ", "three."), finish()] }));
    const { slug, environment } = await far(model, [2, 1, null, 2, 1]);
    const desk = sit(slug, environment);
    desk.typed("Hi\r");
    await desk.sees("One \nConnection lost, going on…\ntwo three.\n");
    await desk.sees("> ");
    desk.typed(ctrlD);
    expect(await desk.ended).toBe(0);
    expect(desk.shown().match(/Connection lost/g)).toHaveLength(1);
    const piped = await pipe(slug, environment, "Again");
    expect(piped).toEqual({ code: 0, output: "One two three.\n", notes: "Connection lost, going on…\n" });
    expect(model.calls).toHaveLength(2);
  });

  test("as JSON, each event comes once", async () => {
    const { slug, environment } = await far(scriptedModel([reply("Yes", ".")]), [2]);
    const { output } = await pipe(slug, environment, "Well?", { json: true });
    const ids = output
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(ids.map((id: string) => id.replace(/.*:/, ""))).toEqual(["1", "2", "3", "4", "5"]);
  });

  test("for good: reports where the reply may be, and the chat continues", async () => {
    const halfway = gate();
    const model = scriptedModel([{ parts: [textDelta("Hel"), halfway.promise, finish()] }, reply("Fine.")]);
    let restarted = false;
    const { h, proxy, slug, environment } = await far(model, (index) => {
      if (index === 0) return 2;
      return restarted ? null : "request";
    });
    const another = await serveAnother(h);
    const desk = sit(slug, environment);
    desk.typed("Hi\r");
    await desk.sees("Hel\nConnection lost, going on…\n");
    await h.services.database.query("delete from turns", []);
    await h.services.database.query("update conversations set open_turns = 0", []);
    proxy.target = another;
    restarted = true;
    await desk.sees("(Turn not found): what it said may be read in the conversation's messages\n");
    await desk.sees("> ");
    desk.typed("And?\r");
    await desk.sees("Fine.\n");
    desk.typed(ctrlD);
    expect(await desk.ended).toBe(0);
    halfway.open();
  });
});

describe("Ctrl+C while a reply streams", () => {
  test("stops the turn on the server: its output is stored, and the prompt returns", async () => {
    const halfway = gate();
    const model = scriptedModel([{ parts: [textDelta("Hel"), halfway.promise, finish()] }, reply("Fine.")]);
    const h = await harness({ model });
    const { slug, key } = await h.agent();
    const proxy = await cuttingProxy(await h.listen(), () => null);
    const desk = sit(slug, { BASE_URL: proxy.url, AGENT_API_KEY: key, ...configuration() });
    desk.typed("Hi\r");
    await desk.sees("Hel");
    desk.typed(ctrlC);
    await desk.sees("\nInterrupted.\n");
    expect(proxy.passed.map(({ method, status }) => `${method} ${status}`)).toEqual(["POST 200", "DELETE 200"]);
    desk.typed("And?\r");
    await desk.sees("Fine.\n");
    const stored = await h.services.database.query("select content, metadata from messages order by seq", []);
    expect(stored[1]).toEqual({ content: "Hel", metadata: expect.objectContaining({ stopped: "stop" }) });
    desk.typed(ctrlC);
    expect(await desk.ended).toBe(130);
    halfway.open();
  });

  test("says so when the server can't be reached, and leaves at the second one", async () => {
    const halfway = gate();
    const model = scriptedModel([{ parts: [textDelta("Hel"), halfway.promise, finish()] }]);
    const h = await harness({ model });
    const { slug, key } = await h.agent();
    const proxy = await cuttingProxy(await h.listen(), ({ method }) => (method === "DELETE" ? "request" : null));
    const desk = sit(slug, { BASE_URL: proxy.url, AGENT_API_KEY: key, ...configuration() });
    desk.typed("Hi\r");
    await desk.sees("Hel");
    desk.typed(ctrlC);
    await desk.sees("could not be told to stop: it may complete the reply\nInterrupted.\n");
    desk.typed(ctrlC);
    expect(await desk.ended).toBe(130);
    halfway.open();
  });
});
