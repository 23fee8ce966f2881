import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataDirectory, quickstart, run, serve } from "./program.ts";

test("files and the installation of this machine, while its server is stopped", async () => {
  const DATA_DIR = dataDirectory();
  const root = join(DATA_DIR, "files");
  const environment = { DATA_DIR, NO_COLOR: "1" };
  const server = await quickstart({ DATA_DIR });
  const held = await run(["pull", root], environment);
  expect(held).toMatchObject({ code: 1, stdout: "" });
  expect(held.stderr).toMatch(
    /^agent-engine: A running server holds .* or name the server with --url and a management key\n$/,
  );
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);

  const pulled = await run(["pull", root], environment);
  expect(pulled).toMatchObject({ code: 0, stderr: "" });
  expect(pulled.stdout).toBe(
    "agents/assistant.yaml\nschema/agent.schema.json\nschema/skill.schema.json\n3 written, 0 already as on the server.\n",
  );
  const file = join(root, "agents/assistant.yaml");
  const text = readFileSync(file, "utf8");
  expect(text).not.toContain(server.key);
  writeFileSync(file, text.replace("slug: assistant\n", "slug: assistant\n  description: From a file\n"));
  expect((await run(["apply", root, "--dry-run"], environment)).code).toBe(3);
  const applied = await run(["apply", root], environment);
  expect(applied).toMatchObject({ code: 0, stderr: "" });
  expect(applied.stdout).toMatch(/^ {4}~ description: "" → "From a file"\n.*\nagent assistant: updated\n$/m);

  const again = await serve([], { DATA_DIR });
  const signIn = await fetch(`${again.url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: server.email, password: server.password }),
  });
  const headers = { Authorization: `Bearer ${((await signIn.json()) as { token: string }).token}` };
  const read = async (path: string) =>
    (await (await fetch(again.url + path, { headers })).json()) as Record<string, unknown>;
  // The command's key is gone, and the audit log names the command.
  expect(await read("/api/organizations/default/management-keys")).toEqual({ managementKeys: [] });
  const { items } = await read("/api/audit-logs?action=agent.import");
  expect(items).toMatchObject([{ actor: { type: "key", name: "apply" }, target: "assistant" }]);
});
