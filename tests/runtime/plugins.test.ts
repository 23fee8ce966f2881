import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPages, textsIn } from "./pages.ts";
import { chat, dataDirectory, quickstart, run } from "./program.ts";

const key = "the-key-of-the-weather-service";

/** The weather service of the page, on this machine. */
async function weatherService() {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    asked.push([request.url, request.headers.authorization]);
    response.end('{"days":["sun","rain"]}');
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return { asked, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A working directory with the plugin of docs/plugins.md, which asks the service at this host. */
function directoryWith(host: string): string {
  const page = readPages().find(({ name }) => name === "docs/plugins.md");
  const [weather = ""] = page ? textsIn(page, "js") : [];
  expect(weather.split("\n").length).toBeLessThan(36);
  const directory = dataDirectory();
  const here = weather.replace("https://api.weather.example", `http://${host}`).replace("api.weather.example", host);
  writeFileSync(join(directory, "weather.js"), here);
  return directory;
}

test("the plugin of docs/plugins.md is called in a turn, and a broken one next to it is reported", async () => {
  const { asked, host } = await weatherService();
  const directory = directoryWith(host);
  writeFileSync(join(directory, "broken.js"), 'export default { namespace: "broken", tools: "none" };\n');
  const packaged = join(directory, "node_modules", "agent-plugin-dice");
  mkdirSync(packaged, { recursive: true });
  const dice = { name: "agent-plugin-dice", type: "module", exports: { ".": { import: "./dice.js" } } };
  writeFileSync(join(packaged, "package.json"), JSON.stringify(dice));
  const roll = `{ name: "roll", description: "Rolls.", parameters: { type: "object" }, effect: "none", needsApproval: true, execute: async () => 4 }`;
  writeFileSync(
    join(packaged, "dice.js"),
    `export default { namespace: "dice", title: "Dice", hosts: [], secrets: [], tools: [${roll}] };\n`,
  );

  writeFileSync(join(directory, "typo.js"), "\nexport default {;\n");
  writeFileSync(join(directory, "throws.js"), '\nthrow new Error("no licence");\n');
  writeFileSync(join(directory, "lacks.js"), 'import "./gone.js";\nexport default {};\n');

  const others = "./broken.js,./typo.js,./throws.js,./lacks.js,./missing.js";
  const environment = { DATA_DIR: directory, PLUGINS: `./weather.js, agent-plugin-dice ,${others}` };
  const password = "correct horse battery";
  const server = await quickstart({ ...environment, OWNER_EMAIL: "owner@example.com", OWNER_PASSWORD: password });
  const lines = server.stderr().split("\n");
  const problems = lines.filter((line) => line.includes("A plugin of PLUGINS can't be used"));
  const told = problems.map((line) => JSON.parse(line) as { level: string; plugin: string; reason: string });
  expect(told.map(({ level, plugin, reason }) => [level, plugin, reason])).toEqual([
    ["error", "./broken.js", "title is required; hosts is required; secrets is required; tools must be a list"],
    ["error", "./typo.js", "Unexpected token ';'"],
    ["error", "./throws.js", "no licence"],
    ["error", "./lacks.js", expect.stringMatching(/^Cannot find module '.*gone\.js' imported from .*lacks\.js$/)],
    ["error", "./missing.js", expect.stringMatching(/^Cannot find module '.*missing\.js'$/)],
  ]);

  const call = async (method: string, path: string, json?: object, token?: string) => {
    const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
    const answer = await fetch(server.url + path, { method, headers, ...(json ? { body: JSON.stringify(json) } : {}) });
    return answer.json();
  };
  const { token } = await call("POST", "/api/auth/sign-in/email", { email: "owner@example.com", password });
  const own = "/api/instances/assistant";
  await call("PUT", `${own}/secrets`, { secrets: [{ key: "weather_key", value: key }] }, token);
  const { tools } = await call(
    "PATCH",
    `${own}/tools`,
    { enabled: ["weather:forecast", "dice:roll", "markdown-pdf:create"] },
    token,
  );
  const on = (tools as { name: string; enabled: boolean; needsApproval: boolean }[]).filter(({ enabled }) => enabled);
  expect(on).toMatchObject([
    { name: "markdown-pdf:create", origin: "plugin", needsApproval: false },
    { name: "weather:forecast", category: "Weather", origin: "plugin", needsApproval: false },
    { name: "dice:roll", category: "Dice", origin: "plugin", needsApproval: true },
  ]);

  const text = 'call weather__forecast {"city":"Biel/Bienne"}';
  const reply = await (await chat({ url: server.url, key: server.key, text })).text();
  expect(reply).toContain("rain");
  expect(asked).toEqual([["/forecast?city=Biel%2FBienne", `Bearer ${key}`]]);
  expect([server.stderr(), reply].join()).not.toContain(key);

  // This one of the shipped families has files of its own in the package: fonts, and a module that is loaded late.
  const pdf = 'call markdown-pdf__create {"markdown":"# Tea"}';
  const made = await (await chat({ url: server.url, key: server.key, text: pdf, chatId: "pdf" })).text();
  expect(made).toContain("/files/");
  const [link = ""] = /http[^"\\]*\/files\/[^"\\ ]+/.exec(made) ?? [];
  expect((await (await fetch(link)).text()).slice(0, 8)).toBe("%PDF-1.7");

  const doctor = await run(["doctor", "--json"], environment);
  const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; status: string; message: string }[] };
  expect([doctor.code, checks.find(({ name }) => name === "plugins")]).toEqual([
    1,
    { name: "plugins", status: "fail", message: expect.stringContaining("./broken.js (title is required; ") },
  ]);
});
