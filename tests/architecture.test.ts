import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/** Each room and the rooms it may import (docs/architecture.md). A feature may always import itself. */
const rooms = {
  core: [],
  db: ["core"],
  turn: ["core"],
  context: ["core", "db"],
  markdown: [],
  panel: ["client", "markdown"],
  jobs: ["core", "db", "context"],
  http: ["core", "db", "context"],
  contribution: ["db", "turn", "jobs", "http"],
  features: ["core", "db", "turn", "context", "jobs", "http", "contribution", "features"],
  adapters: ["core", "db", "turn", "markdown"],
  plugins: ["core", "markdown"],
  app: ["core", "context", "http"],
  engine: ["core", "context", "contribution", "jobs", "http", "features", "app"],
  client: [],
  main: ["engine", "adapters", "plugins", "core"],
  cli: ["main", "engine", "adapters", "core", "client"],
} as const satisfies Record<string, readonly string[]>;

type Room = keyof typeof rooms;

/** A feature imports only features before it in this list, and only their `index.ts`. */
const featureOrder = [
  ...[
    "agents",
    "secrets",
    "files",
    "conversations",
    "mail",
    "account",
    "organizations",
    "providers",
    "users",
    "installation",
    "audit",
  ],
  ...["tools", "hooks", "channels"],
  ...["skills", "prompts", "memories", "turns"],
  ...["activity", "tracing", "metrics", "analytics"],
  ...["chat", "handoff", "inbox", "tasks", "room", "bundles", "health", "retention"],
];

const source = fileURLToPath(new URL("../src", import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => name.replaceAll("\\", "/"))
  .sort();

const specifiers = (text: string) =>
  [...text.matchAll(/(?:^|[\s;}])(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"|\bimport\s*\(?\s*"([^"]+)"/g)].map(
    (match) => match[1] ?? match[2] ?? "",
  );

/** The imports of each file, such as `features/turns/begin.ts`: files as paths in src, libraries by their names. */
const imports = new Map(
  files.map((file) => {
    const list = specifiers(readFileSync(join(source, file), "utf8"));
    return [file, list.map((name) => (name.startsWith(".") ? inSource(file, name) : name))];
  }),
);

function inSource(file: string, name: string): string {
  return relative(source, join(source, dirname(file), name)).replaceAll("\\", "/");
}

function roomOf(file: string): Room {
  const name = file.split("/")[0]?.replace(/\.tsx?$/, "") ?? "";
  if (!Object.hasOwn(rooms, name)) throw new Error(`src/${file} is in no room`);
  return name as Room;
}

const featureOf = (file: string) => (file.startsWith("features/") ? file.split("/")[1] : undefined);
const isOurs = (name: string) => files.includes(name);

const edges = [...imports].flatMap(([from, list]) => list.filter(isOurs).map((to) => ({ from, to })));
const show = ({ from, to }: { from: string; to: string }) => `${from} imports ${to}`;

describe("the layers of the code", () => {
  test("every import of ours leads to a file that the check reads", () => {
    const missing = [...imports].flatMap(([from, list]) =>
      list.filter((to) => /\.tsx?$/.test(to) && !isOurs(to)).map((to) => show({ from, to })),
    );
    expect(missing).toEqual([]);
    expect(edges.length).toBeGreaterThan(files.length);
    expect(
      specifiers('import type { A } from "./a.ts";\nexport * from "./b.ts"; await import("./c.ts"); import "./d.ts";'),
    ).toEqual(["./a.ts", "./b.ts", "./c.ts", "./d.ts"]);
  });

  test("a layer imports only the layers below it", () => {
    const wrong = edges.filter(({ from, to }) => {
      const [room, other] = [roomOf(from), roomOf(to)];
      return room !== other && !(rooms[room] as readonly Room[]).includes(other);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("a feature imports another one only through its index, and only an earlier one", () => {
    const place = (feature: string) => {
      const found = featureOrder.indexOf(feature);
      if (found < 0) throw new Error(`The feature ${feature} has no place in the order`);
      return found;
    };
    const wrong = edges.filter(({ from, to }) => {
      const [feature, other] = [featureOf(from), featureOf(to)];
      if (!other || feature === other) return false;
      if (to !== `features/${other}/index.ts`) return true;
      return feature !== undefined && place(feature) <= place(other);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("no file imports itself, even in a circle", () => {
    expect(findCircle()).toEqual([]);
  });

  test("the turn imports neither a database nor a server", () => {
    const wrong = [...imports].filter(
      ([file, list]) => roomOf(file) === "turn" && list.some((name) => /^(drizzle-orm|postgres|hono|@hono)/.test(name)),
    );
    expect(wrong.map(([file]) => file)).toEqual([]);
  });

  test("only the command line, main and the Node adapters use Node's modules, and no adapter of another kind does", () => {
    const allowed = /^(main\.ts|cli\.ts|cli\/|adapters\/node\/)/;
    const wrong = [...imports].filter(([file, list]) => !allowed.test(file) && list.some((n) => n.startsWith("node:")));
    expect(wrong.map(([file]) => file)).toEqual([]);
  });

  test("only the composition roots read the environment", () => {
    const wrong = files.filter(
      (file) => file !== "cli.ts" && /\bprocess\.env\b|\bDeno\.env\b/.test(readFileSync(join(source, file), "utf8")),
    );
    expect(wrong).toEqual([]);
  });
});

/** The files of one circle of imports, type imports included; empty when there is none. */
function findCircle(): string[] {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] => {
    if (done.has(file)) return [];
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    path.push(file);
    for (const { from, to } of edges) {
      if (from !== file) continue;
      const circle = visit(to);
      if (circle.length > 0) return circle;
    }
    path.pop();
    done.add(file);
    return [];
  };
  for (const file of files) {
    const circle = visit(file);
    if (circle.length > 0) return circle;
  }
  return [];
}
