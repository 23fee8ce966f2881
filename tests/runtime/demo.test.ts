import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { follow } from "./program.ts";

const demo = fileURLToPath(new URL("../demo/channels.ts", import.meta.url));
const me = "I am the demo model, not a language model: I only repeat. You said:";

test("the demo of the messengers plays its conversations to their end", async () => {
  const { PATH = "" } = process.env;
  const env = { PATH, TMPDIR: tmpdir() };
  const program = follow(spawn(process.execPath, [demo], { env, stdio: ["ignore", "pipe", "pipe"] }));
  expect(await program.ended).toBe(0);
  expect(program.stderr()).toBe("");
  const lines = program.stdout().split("\n");
  expect(lines.map((line) => line.replace(/^ *\d+\.\d s {2}(\w+) +/, "$1: ").trim()).filter(Boolean)).toEqual([
    "Telegram, by polling: no public address is needed",
    "Ada: Hello!",
    "Ada: Are you there?",
    `Agent: ${me} Are you there?`,
    "Ada: [a photo] What is this?",
    `Agent: ${me} What is this?`,
    "[A picture came: photo.jpg.]",
    "Slack, by Socket Mode: no public address either",
    "Ada: Hello!",
    `Agent: ${me} Hello!`,
    "Ada: in #general: @Helper What is new?",
    expect.stringMatching(new RegExp(`^Agent: in a thread: ${me} U\\d+: What is new\\?$`)),
    "WhatsApp, by Twilio's webhook",
    "Ada: Hello!",
    `Agent: ${me} Hello!`,
    "Ada: STOP",
    "Agent: I will not write any more. Say START to go on.",
    "Ada: Is anybody there?",
    "Ada: START",
    "Agent: Welcome back.",
    "Ada: Good to be back.",
    `Agent: ${me} Good to be back.`,
    "That was all of it: docs/channels/README.md says how to set up your own.",
  ]);
});
