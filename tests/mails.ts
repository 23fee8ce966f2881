import { expect, vi } from "vitest";
import { editionOf, features } from "../src/core/edition.ts";
import type { Mail, MailRelay } from "../src/core/mail.ts";
import { harness } from "./harness.ts";

export const relay = {
  host: "smtp.example.com",
  username: "agents",
  password: "correct-horse-85a5",
  from: "Agents <agents@example.com>",
};

/** The managed edition with a relay in memory. */
export async function withMails(options: Parameters<typeof harness>[0] = {}) {
  const sent: Mail[] = [];
  const relays: MailRelay[] = [];
  /** The errors of the next attempts to send. */
  const failures: Error[] = [];
  const mailer = {
    async send(to: MailRelay, mail: Mail) {
      relays.push(to);
      const failure = failures.shift();
      if (failure) throw failure;
      sent.push(mail);
    },
  };
  const h = await harness({ edition: editionOf({ EDITION: "managed", FEATURES: features }), mailer, ...options });
  const { database } = h.services;
  const owner = await h.as("owner");
  const path = "/api/installation/mail-relay";
  return {
    ...h,
    owner,
    sent,
    relays,
    failures,
    saveRelay: (json: Record<string, unknown> = {}) =>
      h.request(path, { method: "PUT", headers: owner, json: { ...relay, ...json } }),
    /** Runs the jobs that are due. */
    async work() {
      await h.engine.tick();
      const running = "select kind from jobs where locked_until is not null";
      await vi.waitFor(async () => expect(await database.query(running, [])).toEqual([]), { timeout: 10_000 });
    },
    /** All rows of the tables that mails touch, the audit log, and the log, as one text. */
    async everything() {
      const tables = ["installation", "one_time_tokens", "jobs", "audit_logs", "users", "throttles"];
      const rows = await Promise.all(tables.map((table) => database.query(`select * from ${table}`, [])));
      return JSON.stringify(rows) + h.logs.join("\n");
    },
  };
}
