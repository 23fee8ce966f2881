import { spawnSync } from "node:child_process";
import { cpSync, globSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { settings } from "../../src/core/config.ts";
import { providerVariables } from "../../src/core/models/providers.ts";
import { dataDirectory } from "../runtime/program.ts";
import { root } from "./npm.ts";

const read = (name: string) => readFileSync(join(root, name), "utf8");
const known = new Set([...Object.keys(settings.shape), ...Object.keys(providerVariables)]);

/** The image sets these, and compose.yaml publishes and mounts accordingly. */
const ofTheImage = ["PORT", "HOST", "DATA_DIR"];

test("compose.yaml passes on every variable that the server reads, and no other", () => {
  const { environment } = parse(read("compose.yaml")).services.engine as { environment: Record<string, unknown> };
  expect(Object.keys(environment).sort()).toEqual([...known].filter((name) => !ofTheImage.includes(name)).sort());
  const own = ["DATABASE_URL", "SHUTDOWN_GRACE_SECONDS"];
  for (const [name, value] of Object.entries(environment)) {
    if (!own.includes(name)) expect(String(value), name).toMatch(new RegExp(`^\\$\\{${name}:[-?]`));
  }
});

test("another program than Node is process 1, which reaps the processes that others left", () => {
  expect(parse(read("compose.yaml")).services.engine).toMatchObject({ init: true });
  expect(read("docs/deploy.md")).toMatch(/^docker run -d .* --init /m);
});

test("the checkout without .dockerignore's paths is all that the build of the image reads", () => {
  const [everything, ...exceptions] = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(everything).toBe("*");
  const context = dataDirectory();
  for (const exception of exceptions) {
    const found = globSync(exception.replace(/^!/, ""), { cwd: root });
    expect(found, exception).not.toEqual([]);
    for (const name of found) cpSync(join(root, name), join(context, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(context, "node_modules"));
  const built = spawnSync(process.execPath, ["scripts/build.ts"], { cwd: context, encoding: "utf8" });
  expect(built).toMatchObject({ status: 0, stderr: "" });
  const copied = [...read("Dockerfile").matchAll(/^COPY --from=build (.+) \S+$/gm)].flatMap(([, names = ""]) =>
    names.split(" ").map((name) => name.replace("/app/", "")),
  );
  expect(readdirSync(context)).toEqual(expect.arrayContaining(copied));
});

test("the Dockerfile sets variables that the server, Node or glibc reads", () => {
  const lines = read("Dockerfile").match(/^ENV .*$/gm) ?? [];
  const set = lines.flatMap((line) => [...line.matchAll(/([A-Z_]+)=/g)].map(([, name = ""]) => name));
  expect(set.filter((name) => !known.has(name))).toEqual([
    "NODE_ENV",
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_MMAP_THRESHOLD_",
  ]);
});

test("no password and no key has a default in compose.yaml", () => {
  const secrets = [...read("compose.yaml").matchAll(/\$\{(\w*(?:PASSWORD|KEY)\w*)(:[-?])([^}]*)\}/g)];
  expect(secrets.length).toBeGreaterThan(4);
  const weak = secrets.filter(([, , operator, text]) => operator === ":-" && text !== "").map(([whole]) => whole);
  expect(weak).toEqual([]);
  for (const name of ["POSTGRES_PASSWORD", "ENCRYPTION_KEY"]) {
    expect(secrets.filter(([, variable]) => variable === name).map(([, , operator]) => operator)).not.toContain(":-");
  }
});

test("the texts that docs/operations.md explains are those the program prints", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => read(join("src", name)));
  const program = [...sources, read("bin/agent-engine.js")].join("\n");
  const [log = "", trouble = ""] = read("docs/operations.md").split("## Trouble");
  const events = [...(log.split("## Health")[0] ?? "").matchAll(/^\| (`[A-Z].*?) \|/gm)];
  const texts = [...trouble.matchAll(/^\| (`[^|]*`.*?) \|/gm)];
  expect([events.length, texts.length]).toEqual([expect.toSatisfy((n) => n > 5), expect.toSatisfy((n) => n > 10)]);
  const fragments = [...events, ...texts]
    .flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)])
    .flatMap(([, text = ""]) => text.split("…"))
    .map((text) => text.trim());
  expect(fragments.filter((text) => !program.includes(text))).toEqual([]);
});
