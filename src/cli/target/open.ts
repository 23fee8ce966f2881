import { setTimeout as pause } from "node:timers/promises";
import { type AgentEngine, AgentEngineError, createAgentEngine } from "../../client/index.ts";
import type { Environment } from "../../core/config.ts";
import { StartError } from "../../core/errors.ts";
import { prepare } from "../../main.ts";
import { explainFailure } from "../chat/refusal.ts";
import { openAlone } from "../open-alone.ts";
import type { TargetOptions } from "./options.ts";

/** The organization that a command works on. */
export interface Target {
  api: AgentEngine;
  /** The slug of the organization. */
  organization: string;
  /** The name of the installation for people. */
  name: string;
  close(): Promise<void>;
}

export interface Surroundings {
  environment: Environment;
  /** Prints a line about progress. */
  note(line: string): void;
}

/** Opens the installation. Rejects with an error that says what to do. */
export async function openTarget(
  { server, organization }: TargetOptions,
  command: string,
  surroundings: Surroundings,
): Promise<Target> {
  if (!server) return openHere(command, organization, surroundings);
  const { url, key } = server;
  const { note } = surroundings;
  if (isUnencrypted(url)) note(`${url} is not encrypted: whoever is on the way can read the key`);
  const call: typeof fetch = (input, init) =>
    fetch(input, init).catch((error: unknown) => {
      throw explainFailure(error, { url, slug: "" });
    });
  const headers = organization === undefined ? {} : { "X-Organization": organization };
  const onWait = (seconds: number) => note(`The server asks to wait for ${seconds} s`);
  const api = createAgentEngine({ baseUrl: url, token: key, headers, fetch: patientFetch({ fetch: call, onWait }) });
  const { organizations } = await api.listOrganizations().catch((error: unknown) => {
    throw explainEntry(error, url, organization);
  });
  const [own] = organization === undefined ? organizations : organizations.filter(({ slug }) => slug === organization);
  if (!own)
    throw new StartError(`The key belongs to no organization ${organization ?? ""} at ${url}`.replace("  ", " "));
  if (organization === undefined && organizations.length > 1) {
    const known = organizations.map(({ slug }) => slug).join(", ");
    throw new StartError(`The key belongs to several organizations: name one with --organization: ${known}`);
  }
  return { api, organization: own.slug, name: url, close: async () => {} };
}

/** Explains why the first request was refused: it shows whether address, key and organization are right. */
function explainEntry(error: unknown, url: string, organization: string | undefined): unknown {
  if (!(error instanceof AgentEngineError)) return error;
  if (error.status === 401) {
    return new StartError(`${url} refuses the key: set AGENT_ENGINE_KEY to a management key of the organization`);
  }
  if (error.status === 404 && organization !== undefined && error.body !== null) {
    return new StartError(`The key belongs to no organization ${organization} at ${url}`);
  }
  return new StartError(`${error.message.replace("check baseUrl", "check --url")}`);
}

function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Opens this machine's installation in this process, as the operator's commands do. */
async function openHere(
  command: string,
  organization: string | undefined,
  { environment, note }: Surroundings,
): Promise<Target> {
  // Otherwise each request would print a log line.
  const setup = prepare({ ...environment, LOG_LEVEL: environment.LOG_LEVEL || "warn" }, { terminal: true });
  const { engine, close } = await openAlone(setup, "or name the server with --url and a management key");
  const end = async () => {
    // Leaves the background work of this change to the server.
    await engine.stop(0);
    await close();
  };
  try {
    const operator = await engine.operator(command, organization);
    const onWait = (seconds: number) => note(`The policy rateLimit asks to wait for ${seconds} s`);
    const call = patientFetch({ fetch: operator.fetch, onWait });
    return {
      api: createAgentEngine({ baseUrl: "http://localhost", token: operator.key, fetch: call }),
      organization: operator.organization,
      name: "this machine",
      close: async () => {
        await operator.close().finally(end);
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** How long one wait for a server's rate limit may be, in seconds, and how many waits there may be. */
const longestSeconds = 120;
const mostWaits = 10;

/** The longest request in milliseconds, without the time that it waits for its turn. */
const timeoutMs = 120_000;

interface Options {
  fetch: typeof fetch;
  /** Called before each wait. */
  onWait(seconds: number): void;
}

/**
 * A `fetch` that waits as long as the server's rate limit requires and then repeats the request, since a throttled
 * request has changed nothing. Follows no redirect, since the key is only for one address.
 */
export function patientFetch({ fetch: call, onWait }: Options): typeof fetch {
  return async (input, init) => {
    for (let waits = 0; ; waits += 1) {
      const response = await call(input, { ...init, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
      const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
      if (response.status !== 429 || !(seconds <= longestSeconds) || waits >= mostWaits) return response;
      await response.body?.cancel();
      onWait(seconds);
      await pause(seconds * 1000);
    }
  };
}
