import postgres from "postgres";

/**
 * Keeps an engine's turns from leaving background work in its database. Titles come sooner in new conversations than in
 * others, and would be counted with the turns that happen to run meanwhile.
 */
export async function forgetWork(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1 });
  await sql.unsafe(`
    create function forget_work() returns trigger language plpgsql as 'begin return null; end';
    create trigger forget_work before insert on jobs for each row execute function forget_work()`);
  await sql.end();
}
