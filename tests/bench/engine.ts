import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Target } from "./load.ts";
import { asServer, type ServerProcess } from "./processes.ts";

const owner = { email: "owner@example.com", password: "bench-password" };

/** The built server as anyone would start it, on a free port. */
export async function startEngine(env: Record<string, string>): Promise<ServerProcess> {
  const program = new URL("../../dist/cli.js", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, "serve"], {
    env: {
      ...process.env,
      ...env,
      PORT: "0",
      TRUST_PROXY: "1",
      OWNER_EMAIL: owner.email,
      OWNER_PASSWORD: owner.password,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    // The log; read to the end, since a full pipe would stop the server.
    createInterface(child.stderr).on("line", (line) => {
      const address = /"address":"http:\/\/[^"]*:(\d+)"/.exec(line)?.[1];
      if (address) resolve(Number(address));
      else if (!line.includes('"level":"info"')) console.error(line);
    });
    child.once("exit", (code) => reject(new Error(`The engine ended with ${code} before it was ready`)));
  });
  return asServer(child, port);
}

/** Two agents, made over the API as a user would: one for each reply. */
export async function createAgents({ url }: ServerProcess): Promise<Target> {
  const call = async (method: string, path: string, body: object, token?: string): Promise<{ token?: string }> => {
    const response = await fetch(url + path, {
      method,
      headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { token?: string };
  };
  const { token } = await call("POST", "/api/auth/sign-in/email", owner);
  for (const slug of ["short", "long"]) {
    await call("POST", "/api/instances", { slug, provider: "openai-compatible", model: slug }, token);
    await call("PUT", `/api/instances/${slug}/channels/web`, { enabled: true, config: { apiKey: keys(slug) } }, token);
  }
  return { url, key: keys };
}

/** One key opens one agent. */
const keys = (slug: string) => `bench-key-of-${slug}`;
