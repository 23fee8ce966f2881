import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Door } from "./doors.ts";

/** Another project's program that keeps conversations in PostgreSQL too, with its own server. */
export interface Peer {
  name: string;
  script: string;
  door: Door;
}

interface Described {
  name: string;
  packages: string[];
  door: Door;
}

const content = "What is the capital of Switzerland, and why?";
const mark = '"type":"text-delta"';

const described: Described[] = [
  {
    name: "VoltAgent",
    packages: [
      "@voltagent/core@2.10.0",
      "@voltagent/server-hono@2.0.14",
      "@voltagent/postgres@2.1.2",
      "@voltagent/logger@2.0.2",
      "ai@6.0.326",
      "@ai-sdk/openai-compatible@2.0.91",
      "zod@4.6.7",
    ],
    door: {
      path: ({ shape, streamed }) => `/agents/${shape}/${streamed ? "stream" : "text"}`,
      body: ({ chatId }) => ({ input: content, options: { userId: "bench", conversationId: chatId } }),
      mark,
      ending: '"type":"finish"',
    },
  },
  {
    name: "Mastra",
    packages: [
      "@mastra/core@1.71.0",
      "@mastra/hono@1.7.9",
      "@mastra/pg@1.27.1",
      "@mastra/memory@1.31.0",
      "hono@4.13.19",
      "@hono/node-server@2.1.8",
      "zod@4.6.7",
    ],
    door: {
      path: ({ shape, streamed }) => `/api/agents/${shape}/${streamed ? "stream" : "generate"}`,
      body: ({ chatId }) => ({
        messages: [{ role: "user", content }],
        memory: { thread: chatId, resource: "bench" },
      }),
      mark,
      ending: "[DONE]",
    },
  },
];

/** Keeps a peer from connecting to other machines. */
export const stayHome = `--import=${new URL("peers/stay-home.mjs", import.meta.url).href}`;

/** Installs the peers from npm into a folder, which `remove` deletes. */
export function installPeers(): { peers: Peer[]; remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), "agent-engine-peers-"));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    const peers = described.map(({ name, packages, door }) => {
      const folder = join(directory, name);
      const script = join(folder, `${name.toLowerCase()}.mjs`);
      cpSync(fileURLToPath(new URL(`peers/${name.toLowerCase()}.mjs`, import.meta.url)), script);
      writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
      const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--loglevel=error"];
      execFileSync("npm", ["install", ...options, ...packages], { cwd: folder, stdio: "inherit" });
      return { name, script: pathToFileURL(script).href, door };
    });
    return { peers, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
