import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Services } from "../../src/context/ctx.ts";
import { docsRoutes } from "../../src/http/pages/docs.ts";

/** The routes over these files; the page needs nothing else of the engine. */
function docs(files: Record<string, string>) {
  const read = async (name: string) => {
    const text = files[name];
    return text === undefined ? null : new TextEncoder().encode(text);
  };
  return docsRoutes({ assets: { read } } as Partial<Services> as Services);
}

const shipped = { "docs/swagger-ui.css": "css", "docs/swagger-ui-bundle.js": "js" };

test("the page's policy allows its own inline parts by hash, this server's files, and nothing else", async () => {
  const response = await docs(shipped).request("/docs");
  expect(response.status).toBe(200);
  const html = await response.text();
  const policy = response.headers.get("Content-Security-Policy") ?? "";
  const inline = [...html.matchAll(/<(?:script|style)>(.*?)<\/(?:script|style)>/gs)].map(([, source = ""]) => source);
  expect(inline).toHaveLength(2);
  for (const source of inline) {
    expect(policy).toContain(`'sha256-${createHash("sha256").update(source).digest("base64")}'`);
  }
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(html).not.toMatch(/https?:|\/\//);
});

test("the page names only files that are served, by addresses that work under any path", async () => {
  const app = docs(shipped);
  const html = await (await app.request("/docs")).text();
  const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
  expect(addresses).toEqual(["favicon.svg", "docs/swagger-ui.css", "openapi.json", "docs/swagger-ui-bundle.js"]);
  const script = await app.request("/docs/swagger-ui-bundle.js");
  expect(script.headers.get("Content-Type")).toBe("text/javascript; charset=utf-8");
  expect(await script.text()).toBe("js");
  expect((await app.request("/docs/swagger-ui.css")).headers.get("Content-Type")).toBe("text/css; charset=utf-8");
  expect((await app.request("/docs/NOTICE")).status).toBe(404);
});

test("a file is read once, and a browser that has it is told so", async () => {
  const files: Record<string, string> = {};
  const read: string[] = [];
  const assets = {
    read: async (name: string) => {
      read.push(name);
      return files[name] === undefined ? null : new TextEncoder().encode(files[name]);
    },
  };
  const app = docsRoutes({ assets } as Partial<Services> as Services);
  const path = "/docs/swagger-ui.css";
  expect(read).toEqual([]);
  // A missing file may be added later.
  expect((await app.request(path)).status).toBe(404);
  Object.assign(files, shipped);
  read.length = 0;

  const first = await app.request(path);
  const etag = first.headers.get("ETag") ?? "";
  expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
  expect((await app.request("/docs/swagger-ui-bundle.js")).headers.get("ETag")).not.toBe(etag);
  const again = await app.request(path, { headers: { "If-None-Match": `W/${etag}` } });
  expect([again.status, await again.text(), again.headers.get("ETag")]).toEqual([304, "", etag]);
  expect(again.headers.get("Cache-Control")).toBe("public, max-age=3600");
  const other = await app.request(path, { headers: { "If-None-Match": '"x"' } });
  expect([other.status, await other.text()]).toEqual([200, "css"]);
  await app.request("/docs");
  expect(read).toEqual(["docs/swagger-ui.css", "docs/swagger-ui-bundle.js"]);
});

test("without the shipped files there is no such page", async () => {
  for (const files of [{}, { "docs/swagger-ui.css": "css" }]) {
    expect((await docs(files).request("/docs")).status).toBe(404);
  }
  expect((await docs({}).request("/docs/swagger-ui-bundle.js")).status).toBe(404);
});
