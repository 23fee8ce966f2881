import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readPages, textsIn } from "../runtime/pages.ts";
import { dataDirectory } from "../runtime/program.ts";
import { assignments, settingsIn } from "./settings.ts";

const page = readPages().find(({ name }) => name === "docs/high-availability.md") ?? { name: "", snippets: [] };

type Lines = string[][];

/** The sections of a configuration file by their first words, with the words of each line; without comments. */
function sectionsOf(text: string, isHead: (line: string) => boolean): Map<string, Lines> {
  const sections = new Map<string, Lines>();
  let head = "";
  for (const line of text.split("\n").filter((one) => /^\s*[^\s#;]/.test(one))) {
    if (isHead(line)) head = line.trim();
    else sections.set(head, [...(sections.get(head) ?? []), line.trim().split(/\s+/)]);
  }
  return sections;
}

describe("HAProxy's file in docs/high-availability.md", () => {
  const text = textsIn(page, "haproxy").join("\n");
  const sections = sectionsOf(text, (line) => /^\S/.test(line));
  const linesOf = (name: string) => sections.get(name) ?? [];
  const has = (name: string, ...words: string[]) =>
    expect(linesOf(name).map((line) => line.join(" "))).toEqual(expect.arrayContaining(words));

  const known: Record<string, readonly string[]> = {
    global: ["maxconn"],
    defaults: ["timeout"],
    frontend: ["mode", "bind", "timeout", "option", "http-request", "default_backend"],
    backend: ["mode", "balance", "option", "http-check", "default-server", "server"],
    listen: ["mode", "bind", "option", "http-check", "default-server", "server"],
  };

  test("has sections and keywords that HAProxy knows", () => {
    expect(sections.size).toBe(5);
    const unknown = [...sections].flatMap(([head, lines]) => {
      const keywords = known[head.split(" ")[0] ?? ""] ?? [];
      return lines.map(([keyword = ""]) => keyword).filter((keyword) => !keywords.includes(keyword));
    });
    expect(unknown).toEqual([]);
  });

  test("asks both kinds of server with a Host, and cuts sessions to a former primary only", () => {
    has("frontend agents", "default_backend engines", "option forwardfor");
    has("backend engines", "http-check send meth GET uri /ready ver HTTP/1.1 hdr Host agents.example.com");
    has("listen postgresql", "http-check send meth GET uri /primary ver HTTP/1.1 hdr Host patroni");
    const cuts = [...sections].filter(([, lines]) => lines.flat().includes("on-marked-down")).map(([head]) => head);
    expect(cuts).toEqual(["listen postgresql"]);
    for (const head of ["backend engines", "listen postgresql"]) {
      const servers = linesOf(head).filter(([keyword]) => keyword === "server");
      expect([head, servers.length > 1, linesOf(head).flat().includes("check")]).toEqual([head, true, true]);
    }
  });

  const program = "/usr/sbin/haproxy";

  test.runIf(existsSync(program))("is taken by HAProxy", () => {
    const file = join(dataDirectory(), "haproxy.cfg");
    // There is no certificate here.
    writeFileSync(file, text.replace(/ ssl crt \S+/, ""));
    expect(spawnSync(program, ["-c", "-f", file], { encoding: "utf8" })).toMatchObject({ status: 0 });
  });

  test("notices a server that drains before it refuses requests", () => {
    const [line = []] = linesOf("backend engines").filter(([keyword]) => keyword === "default-server");
    const secondsOf = (name: string) => Number.parseInt(line[line.indexOf(name) + 1] ?? "", 10);
    const check = Number.parseInt(/timeout check (\d+)s/.exec(text)?.[1] ?? "", 10);
    const noticed = secondsOf("inter") * secondsOf("fall") + check;
    const [servers = ""] = textsIn(page, "ini").filter((one) => one.includes("DRAIN_SECONDS"));
    expect(settingsIn(servers).DRAIN_SECONDS).toBeGreaterThan(noticed);
  });
});

describe("the other files in docs/high-availability.md", () => {
  test("settings of servers are those that the server reads", () => {
    const texts = textsIn(page, "ini").filter((text) => /^[A-Z_]+=/.test(text));
    expect(texts).toHaveLength(2);
    const [direct, pooled] = texts.map(settingsIn);
    expect(direct?.DATABASE_PREPARE).toBe(true);
    expect(pooled?.DATABASE_PREPARE).toBe(false);
  });

  test("PgBouncer's has settings that PgBouncer knows, for the address of DATABASE_URL", () => {
    const [text = ""] = textsIn(page, "ini").filter((one) => one.includes("[pgbouncer]"));
    const sections = sectionsOf(text, (line) => line.startsWith("["));
    expect([...sections.keys()]).toEqual(["[databases]", "[pgbouncer]"]);
    const lines = sections.get("[pgbouncer]") ?? [];
    expect(lines.filter(([, equals]) => equals !== "=")).toEqual([]);
    const values = Object.fromEntries(lines.map(([name = "", , value = ""]) => [name, value]));
    expect(values).toEqual({
      listen_addr: "127.0.0.1",
      listen_port: "6432",
      auth_type: "scram-sha-256",
      auth_file: expect.stringMatching(/^\//),
      pool_mode: "transaction",
      default_pool_size: expect.stringMatching(/^\d+$/),
      max_client_conn: expect.stringMatching(/^\d+$/),
    });
    const [urls = ""] = textsIn(page, "ini").filter((one) => one.includes("DATABASE_PREPARE"));
    expect(assignments(urls).DATABASE_URL).toContain(`@${values.listen_addr}:${values.listen_port}/agent_engine`);
    expect(sections.get("[databases]")?.[0]?.[0]).toBe("agent_engine");
  });

  const [patroni, cluster] = textsIn(page, "yaml").map((text) => parse(text));

  test("Patroni's keeps its own rule of times", () => {
    const { ttl, loop_wait, retry_timeout, synchronous_mode, postgresql, maximum_lag_on_failover, ...rest } = patroni;
    expect(ttl).toBeGreaterThanOrEqual(loop_wait + 2 * retry_timeout);
    expect([synchronous_mode, postgresql.parameters.synchronous_commit]).toEqual([true, "on"]);
    expect([typeof maximum_lag_on_failover, rest]).toEqual(["number", {}]);
  });

  test("CloudNativePG's has more instances than must have a commit", () => {
    expect(cluster).toMatchObject({ apiVersion: "postgresql.cnpg.io/v1", kind: "Cluster" });
    const { instances, postgresql, storage, bootstrap, ...rest } = cluster.spec;
    expect([typeof storage.size, typeof bootstrap.initdb.database, rest]).toEqual(["string", "string", {}]);
    const { method, number, dataDurability } = postgresql.synchronous;
    expect([["any", "first"].includes(method), ["required", "preferred"].includes(dataDurability)]).toEqual([
      true,
      true,
    ]);
    expect(instances).toBeGreaterThan(number + 1);
  });
});
