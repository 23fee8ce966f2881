import { afterAll, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/adapters/node/clock.ts";
import { postgresNotify } from "../../../../src/adapters/notify/postgres.ts";
import { ActivityBus } from "../../../../src/core/activity/bus.ts";
import { Bridge } from "../../../../src/features/activity/replicas/bridge.ts";
import { collectLog } from "../../../embedded.ts";
import { freshDatabase, poolOn } from "../../../fresh-database.ts";
import { startPostgres } from "../../../real-postgres.ts";

/** Of this file alone, since its sessions are ended. */
const server = await startPostgres();
afterAll(() => server?.stop());

const agent = { id: "a", slug: "a", name: "A", organizationId: "o", workspaceId: "w", iconVersion: null };

function replica(url: string) {
  const { log } = collectLog();
  const database = poolOn({ url }, { max: 2 });
  const notify = postgresNotify({ target: { url }, database, clock: systemClock, log });
  const bus = new ActivityBus({ clock: systemClock, log });
  const bridge = new Bridge({ activity: bus, notify, clock: systemClock });
  onTestFinished(async () => {
    bridge.stop();
    await notify.close();
  });
  const tell = (text: string) => bus.emit({ kind: "inbound", text, agent, conversationId: null });
  const watch = () => {
    const heard: string[] = [];
    const take = (text: string) => void heard.push(/"text":"([^"]*)"/.exec(text)?.[1] ?? text);
    bus.watch({ sees: () => true, conversation: null, take });
    return heard;
  };
  return { tell, watch };
}

test.skipIf(!server)(
  "replicas on PostgreSQL hear each other's events, each once, also those of a lost connection",
  async () => {
    const url = await freshDatabase(server);
    const admin = poolOn({ url }, { max: 1 });
    const [one, two] = [replica(url), replica(url)];
    one.tell("before");
    const heard = two.watch();
    const patience = { timeout: 20_000, interval: 20 };
    await expect.poll(() => heard, patience).toEqual(["before"]);
    const listening = "from pg_stat_activity where datname = current_database() and query like 'listen %'";
    for (const round of [1, 2]) {
      one.tell(`live ${round} ${"é".repeat(6_000)}`);
      await admin.query(`select pg_terminate_backend(pid) ${listening}`, []);
      for (const n of [1, 2, 3]) one.tell(`lost ${round}.${n}`);
      await expect.poll(() => heard.length, patience).toBe(1 + 4 * round);
    }
    const lost = (round: number) => [1, 2, 3].map((n) => `lost ${round}.${n}`);
    expect(heard.map((text) => text.slice(0, 8)).toSorted()).toEqual(
      ["before", "live 1 é", "live 2 é", ...lost(1), ...lost(2)].toSorted(),
    );
  },
);
