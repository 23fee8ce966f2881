import { expect } from "vitest";
import { createMessengers } from "../../../src/adapters/messengers/index.ts";
import type { Egress } from "../../../src/core/ports.ts";
import { jobs } from "../../../src/db/schema.ts";
import { TestClock } from "../../clock.ts";
import { type Harness, harness } from "../../harness.ts";

export type Headers = Record<string, string>;
export type Fields = Record<string, unknown>;

export interface Shown {
  channelType: string;
  enabled: boolean;
  status: string;
  lastError: string | null;
  lastReceivedAt: string | null;
  lastSentAt: string | null;
  config: Record<string, string>;
}

interface Options {
  bases?: { telegram?: string; slack?: string; whatsapp?: string };
  /** The public address; absent for one that messengers can't reach. */
  address?: string;
  egress?: Egress;
  more?: Partial<Parameters<typeof harness>[0]>;
}

/** An agent `one` on a server whose messengers are stand-ins. */
export async function withMessengers({ bases = {}, address, egress, more = {} }: Options = {}) {
  const messengers = createMessengers({ clock: new TestClock(), bases: { ...nowhere, ...bases } });
  const h = await harness({ messengers, ...(egress ? { egress } : {}), ...more });
  const headers = await h.as("owner");
  await h.request("/api/instances", { method: "POST", headers, json: { slug: "one" } });
  if (address !== undefined) await moveTo(h, headers, address);
  return { h, headers };
}

const nowhere = { telegram: "http://127.0.0.1:2", slack: "http://127.0.0.1:2", whatsapp: "http://127.0.0.1:2" };

export async function moveTo(h: Pick<Harness, "request">, headers: Headers, publicAddress: string | null) {
  const answer = await h.request("/api/installation/policies", { method: "PATCH", headers, json: { publicAddress } });
  expect(answer.status).toBe(200);
}

/** Sends a `PUT` for a channel. */
export async function put(h: Harness, headers: Headers, type: string, json: unknown, slug = "one") {
  const answer = await h.request(`/api/instances/${slug}/channels/${type}`, { method: "PUT", headers, json });
  const body = (await answer.json()) as { channel: Shown; message: string };
  return { status: answer.status, ...body };
}

export async function shown(h: Harness, headers: Headers, type: string, slug = "one"): Promise<Shown> {
  const answer = await h.request(`/api/instances/${slug}/channels`, { headers });
  const { channels } = (await answer.json()) as { channels: Shown[] };
  const found = channels.find(({ channelType }) => channelType === type);
  if (!found) throw new Error(`There is no channel ${type}`);
  return found;
}

/** Waits until no job runs: a job's results may be readable before it ends. */
export async function untilNoneRuns({ services }: Harness) {
  const locks = async () => (await services.database.db.select().from(jobs)).map(({ lockedUntil }) => lockedUntil);
  await expect.poll(async () => (await locks()).every((lock) => lock === null)).toBe(true);
}

/** Waits until the channel's start ended with this status. */
export async function untilStatus(h: Harness, headers: Headers, type: string, status: string, slug = "one") {
  await expect.poll(() => shown(h, headers, type, slug), { interval: 20 }).toMatchObject({ status });
  return shown(h, headers, type, slug);
}
