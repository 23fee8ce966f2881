import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { onServerCore } from "./cores.ts";
import { completions, keyOf, type Target } from "./doors.ts";
import { asServer, type ServerProcess } from "./processes.ts";
import { type ReplyShape, shapeNames } from "./shapes.ts";

const owner = { email: "owner@example.com", password: "bench-password" };

/** The program that this checkout builds. */
const built = new URL("../../dist/cli.js", import.meta.url).pathname;

/** The built server as a user would start it, but on the core of the measured servers. */
export function spawnEngine(env: Record<string, string>, program = built): ChildProcess {
  const [command, ...words] = onServerCore([process.execPath, program, "serve"]);
  return spawn(command, words, {
    env: {
      ...process.env,
      TRUST_PROXY: "1",
      OWNER_EMAIL: owner.email,
      OWNER_PASSWORD: owner.password,
      ...env,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

/** The same on a free port, when it is ready. `env` must leave `LOG_LEVEL` at `info`: the log names the port. */
export async function startEngine(env: Record<string, string>, program = built): Promise<ServerProcess> {
  const child = spawnEngine({ ...env, PORT: "0" }, program);
  const port = await new Promise<number>((resolve, reject) => {
    readLog(child, (line) => {
      const address = /"address":"http:\/\/[^"]*:(\d+)"/.exec(line)?.[1];
      if (address) resolve(Number(address));
    });
    child.once("exit", (code) => reject(new Error(`The engine ended with ${code} before it was ready`)));
  });
  return asServer(child, port);
}

/** To the end, since a full pipe would block the server. */
export function readLog({ stderr }: ChildProcess, onLine: (line: string) => void = () => {}): void {
  if (!stderr) return;
  createInterface(stderr).on("line", (line) => {
    onLine(line);
    if (!line.includes('"level":"info"')) console.error(line);
  });
}

/** The floors have no memories either. */
const agent = { provider: "openai-compatible", memoryEnabled: false };

/** One agent for each of the replies, made over the API as a user would. */
export async function createAgents(url: string, replies: readonly ReplyShape[] = shapeNames): Promise<Target> {
  const token = await ownerToken(url);
  for (const slug of replies) {
    const channel = `/api/instances/${slug}/channels/web`;
    await send(url, "POST", "/api/instances", { ...agent, slug, model: slug, fastModel: slug }, token);
    await send(url, "PUT", channel, { enabled: true, config: { apiKey: keyOf(slug) } }, token);
  }
  return engineTarget(url);
}

/** The same agents of the managed edition, answered by a connection of the organization with two fallbacks. */
export async function createBoundAgents(url: string, modelUrl: string): Promise<Target> {
  const target = await createAgents(url);
  const token = await ownerToken(url);
  const baseUrl = `${modelUrl}/v1`;
  await send(url, "PATCH", "/api/installation/policies", { httpAllowedHosts: [new URL(baseUrl).host] }, token);
  const { user } = await send<Me>(url, "GET", "/api/me", null, token);
  const connections = `/api/organizations/${user.organizations[0].slug}/provider-connections`;
  const ids: string[] = [];
  for (const name of ["first", "second", "third"]) {
    const input = { name, provider: "openai-compatible", baseUrl };
    const { connection } = await send<{ connection: { id: string } }>(url, "POST", connections, input, token);
    ids.push(connection.id);
  }
  const [connectionId, ...others] = ids;
  for (const model of shapeNames) {
    const fallbacks = others.map((id) => ({ connectionId: id, model }));
    await send(url, "PUT", `/api/instances/${model}/provider-roles/chat`, { connectionId, model, fallbacks }, token);
  }
  return target;
}

interface Me {
  user: { organizations: [{ slug: string }] };
}

export async function ownerToken(url: string): Promise<string> {
  const { token } = await send<{ token?: string }>(url, "POST", "/api/auth/sign-in/email", owner);
  if (!token) throw new Error("The sign-in answered no token");
  return token;
}

/** One call of the management API. */
export async function send<T = unknown>(
  url: string,
  method: string,
  path: string,
  body: object | null,
  token?: string,
): Promise<T> {
  const response = await fetch(url + path, {
    method,
    headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Agents that exist already. */
export const engineTarget = (url: string): Target => ({ url, door: completions });
