import postgres from "postgres";
import { shapeNames } from "./shapes.ts";

export interface Asked {
  model: string;
  messages: { role: "user"; content: string }[];
  stream?: boolean;
  chat_id: string;
}

/** The two statements of a floor, which needs to know an agent's model and stores the messages. */
export interface Store {
  modelOf(agent: string): Promise<string | undefined>;
  keep(id: string, chat: string, content: string): Promise<unknown>;
}

/** On the database of the environment: PostgreSQL through postgres.js as it is, or the engine's embedded one. */
export async function openStore(): Promise<Store> {
  const { query, close } = process.env.DATABASE_URL ? onPostgres(process.env.DATABASE_URL) : await embedded();
  await query("create table if not exists bench_agents (slug text primary key, model text not null)", []);
  await query("create table if not exists bench_messages (id uuid primary key, chat text, content text)", []);
  for (const shape of shapeNames)
    await query("insert into bench_agents values ($1, $1) on conflict do nothing", [shape]);
  process.once("SIGTERM", () => void close().finally(() => process.exit(0)));
  return {
    async modelOf(agent) {
      const [found] = await query("select model from bench_agents where slug = $1", [agent]);
      return found?.model;
    },
    keep: (id, chat, content) => query("insert into bench_messages values ($1, $2, $3)", [id, chat, content]),
  };
}

interface Client {
  query(text: string, parameters: string[]): Promise<{ model: string }[]>;
  close(): Promise<void>;
}

function onPostgres(url: string): Client {
  const sql = postgres(url, { fetch_types: false, onnotice: () => {} });
  return {
    query: (text, parameters) => sql.unsafe<{ model: string }[]>(text, parameters, { prepare: true }),
    close: () => sql.end(),
  };
}

/** Imported only here, so that the floors on PostgreSQL hold no code of the engine. */
async function embedded(): Promise<Client> {
  const { systemClock } = await import("../../src/adapters/node/clock.ts");
  const { createLog } = await import("../../src/adapters/node/log/log.ts");
  const { openStorage } = await import("../../src/adapters/node/storage.ts");
  const { parseSettings } = await import("../../src/core/config.ts");
  const log = createLog({ level: "warn", pretty: false, secrets: [] });
  const { database, close } = await openStorage(parseSettings(process.env), { clock: systemClock, log });
  return { query: (text, parameters) => database.query(text, parameters), close };
}
