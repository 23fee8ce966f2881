import { describe, expect, test } from "vitest";
import type { Services } from "../../src/context/ctx.ts";
import { editionOf, features, openEdition } from "../../src/core/edition.ts";
import { panelRoutes } from "../../src/http/pages/panel.ts";
import { harness } from "../harness.ts";

const shipped: Record<string, string> = {
  "panel/index.html": "<!doctype html><title>Panel</title>",
  "panel/main-AB12CD34.js": "plain",
  "panel/main-AB12CD34.js.br": "compressed",
  "panel/style-AB12CD34.css": "css",
  "panel/secret.txt": "no",
  "docs/NOTICE": "no",
};

const managed = editionOf({ EDITION: "managed", FEATURES: features });

const panel = (files = shipped, edition = managed) => {
  const read = async (name: string) => (files[name] === undefined ? null : new TextEncoder().encode(files[name]));
  return panelRoutes({ assets: { read }, options: { edition } } as Pick<Services, "assets" | "options">);
};

describe("the panel's page", () => {
  test.each([
    ["/", "no-cache"],
    ["/setup?token=t", "no-store"],
    ["/reset", "no-cache"],
  ])("%s is the page, under a policy that admits only this server's files", async (path, caching) => {
    const response = await panel().request(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("Cache-Control")).toBe(caching);
    const policy = response.headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|sha256|https?:|\*/);
  });

  test("is at links to reset a password only where there are such links", async () => {
    expect((await panel(shipped, openEdition).request("/reset")).status).toBe(404);
  });

  test("is not there with PANEL=off, and the API is", async () => {
    const h = await harness({ panel: false });
    for (const path of ["/", "/setup", "/panel/main-AB12CD34.js"]) {
      expect((await h.request(path)).status, path).toBe(404);
    }
    expect((await h.request("/health")).status).toBe(200);
  });
});

describe("the panel's files", () => {
  test("are for good, compressed for who takes that", async () => {
    const plain = await panel().request("/panel/main-AB12CD34.js");
    expect(await plain.text()).toBe("plain");
    expect(plain.headers.get("Cache-Control")).toContain("immutable");
    expect(plain.headers.get("Content-Encoding")).toBeNull();
    const small = await panel().request("/panel/main-AB12CD34.js", { headers: { "Accept-Encoding": "gzip, br" } });
    expect(small.headers.get("Content-Encoding")).toBe("br");
    expect(small.headers.get("Vary")).toBe("Accept-Encoding");
    expect(await small.text()).toBe("compressed");
    const etag = plain.headers.get("ETag") ?? "";
    const again = await panel().request("/panel/main-AB12CD34.js", { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);
  });

  test.each([
    "secret.txt",
    "..%2fdocs%2fNOTICE",
    "main-AB12CD34.js.br",
    "main-AB12CD35.js",
    "%00",
    "index.html",
  ])("%s is none of them", async (name) => {
    const h = await harness();
    expect((await h.request(`/panel/${name}`)).status).toBe(404);
  });
});
