import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { writeArray } from "../../db/arrays.ts";
import { refusalHeaders } from "../../http/throttle.ts";
import type { Agents, Grant } from "./admit.ts";

/** So many replies may be under way to one client at a time, in this process. */
export const streamLimit = 256;

type Revoke = (refusal: EngineError) => void;

/** A reply that is under way to a client. */
export interface Seat {
  /** Called once if the client may not talk to the agent any more. */
  onRevoked(revoke: Revoke): void;
  leave(): void;
}

interface Guest {
  grant: Grant;
  revoke: Revoke;
}

/** The chat replies that are under way: streams until their end, others until they are there. */
export class OpenStreams {
  readonly #counts = new Map<string, number>();
  readonly #guests = new Set<Guest>();
  readonly #services: Services;
  readonly #agents: Agents;

  constructor(services: Services, agents: Agents) {
    this.#services = services;
    this.#agents = agents;
  }

  /** Takes a place of the client's. Throws the 429 when all are taken. */
  enter(client: string, grant: Grant): Seat {
    const count = this.#counts.get(client) ?? 0;
    if (count >= streamLimit) throw tooMany();
    this.#counts.set(client, count + 1);
    const guest: Guest = { grant, revoke: () => {} };
    this.#guests.add(guest);
    return {
      onRevoked: (revoke) => {
        guest.revoke = revoke;
      },
      leave: () => {
        if (this.#guests.delete(guest)) this.#count(client);
      },
    };
  }

  /**
   * Asks again for every client whose agent changed since, and lets go of those that would be refused now: a key that
   * was replaced, a channel that was turned off, an agent that is gone. One query while nothing changed, one more for
   * each who is signed in, none while nobody listens. Call it every 2 seconds.
   */
  async closeRevoked(): Promise<void> {
    const byAgent = Map.groupBy(this.#guests, ({ grant }) => grant.agent.row.id);
    if (byAgent.size === 0) return;
    const rows = await this.#services.database.query<{ id: string; revision: number }>(
      "select id, revision from agents where id = any($1::uuid[])",
      [writeArray([...byAgent.keys()])],
    );
    const revisions = new Map(rows.map(({ id, revision }) => [id, revision]));
    for (const [id, guests] of byAgent) {
      const changed = guests.filter(({ grant }) => grant.agent.row.revision !== revisions.get(id));
      const [first] = changed;
      if (first) await this.#askAllAgain(first, changed);
    }
    await this.#askSessions();
  }

  /** Who came by a session may have lost it, or the rights that it takes. */
  async #askSessions(): Promise<void> {
    for (const guest of this.#guests) {
      const { agent, by } = guest.grant;
      if (typeof by === "string" || !("session" in by)) continue;
      await this.#ask(guest, this.#agents.readmitSession(agent, by.session));
    }
  }

  /** An agent that can't be loaded must not keep the streams of others open, nor its own. */
  async #askAllAgain({ grant }: Guest, changed: readonly Guest[]): Promise<void> {
    const { id, slug } = grant.agent.row;
    try {
      await this.#agents.reload(slug);
      for (const guest of changed) await this.#ask(guest, this.#agents.admitAgain(guest.grant));
    } catch (err) {
      this.#services.log.error({ agentId: id, err }, "An agent with open streams could not be loaded");
      const passing = err instanceof EngineError && err.code === "unavailable";
      if (!passing) for (const guest of changed) guest.revoke(new EngineError("internal", "Internal server error"));
    }
  }

  async #ask(guest: Guest, admission: Promise<Grant>): Promise<void> {
    try {
      guest.grant = await admission;
    } catch (refusal) {
      if (!(refusal instanceof EngineError) || refusal.status >= 500) throw refusal;
      guest.revoke(refusal);
    }
  }

  #count(client: string): void {
    const count = this.#counts.get(client) ?? 0;
    if (count > 1) this.#counts.set(client, count - 1);
    else this.#counts.delete(client);
  }
}

function tooMany(): EngineError {
  const headers = refusalHeaders({ limit: streamLimit, remaining: 0, resetSeconds: 5 });
  return new EngineError("rate-limited", "Too many open streams", { headers });
}
