import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readPages, textsIn } from "../runtime/pages.ts";
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
    const texts = textsIn(page, "ini").filter((text) => /^[A-Z_]+=/m.test(text));
    expect(texts).toHaveLength(2);
    const [direct, pooled] = texts.map(settingsIn);
    expect(direct?.DATABASE_PREPARE).toBe(true);
    expect(pooled?.DATABASE_PREPARE).toBe(false);
  });

  test("PgBouncer's is for the address of DATABASE_URL", () => {
    const [text = ""] = textsIn(page, "ini").filter((one) => one.includes("[pgbouncer]"));
    const [, host] = /^listen_addr = (\S+)$/m.exec(text) ?? [];
    const [, port] = /^listen_port = (\S+)$/m.exec(text) ?? [];
    const [urls = ""] = textsIn(page, "ini").filter((one) => one.includes("DATABASE_PREPARE"));
    expect(assignments(urls).DATABASE_URL).toContain(`@${host}:${port}/agent_engine`);
    expect(text).toMatch(/^agent_engine = /m);
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
