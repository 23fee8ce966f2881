import { expect, test } from "vitest";
import { createEgress } from "../../src/adapters/node/egress/request.ts";
import { EgressError } from "../../src/core/egress/target.ts";
import type { EgressAnswer } from "../../src/core/ports.ts";
import { TestClock } from "../clock.ts";
import { skipHere } from "../skip.ts";
import { corpus, hiddenNames, spellings } from "./egress-corpus.ts";
import { canary, internet, publicAddress } from "./internet.ts";

type Attempt = (url: string) => Promise<EgressAnswer>;

/** The URLs of the list that were not refused, each with its outcome. */
async function notRefused(urls: readonly string[], attempt: Attempt): Promise<string[]> {
  const through: string[] = [];
  for (const url of urls) {
    const answer = await attempt(url).then(
      ({ body }) => body,
      (error: unknown) => (error instanceof EgressError ? null : String(error)),
    );
    if (answer !== null) through.push(`${JSON.stringify(url)}: ${answer}`);
  }
  return through;
}

test("no spelling of an address that is not public leads anywhere", async () => {
  const { port, hits } = await canary();
  const { ask, dialled } = internet(hiddenNames);
  const urls = corpus(port);
  expect(urls.length).toBeGreaterThan(350);
  expect(await notRefused(urls, (url) => ask(url))).toEqual([]);
  expect(dialled).toEqual([]);
  expect(hits()).toBe(0);
});

test("the same with https, and without a port", async () => {
  const { ask, dialled } = internet(hiddenNames);
  const port = 4321;
  const urls = corpus(port).filter((url) => url.startsWith("http://") && url.includes(`:${port}/`));
  expect(urls.length).toBeGreaterThan(300);
  const secure = urls.map((url) => url.replace("http:", "https:"));
  const bare = urls.map((url) => url.replace(`:${port}/`, "/"));
  expect(await notRefused([...secure, ...bare], (url) => ask(url))).toEqual([]);
  expect(dialled).toEqual([]);
});

test("no redirect leads there either", async () => {
  const { port, hits } = await canary();
  const { ask, serve, dialled } = internet(hiddenNames);
  const base = await serve(({ url }, response) => {
    const location = decodeURIComponent(url.slice(1));
    response.writeHead(302, { Location: location }).end();
  });
  // A header holds no control characters; and without slashes a location of the same scheme is a path.
  const urls = corpus(port).filter((url) => /^[a-z+]+:\/\/[\x21-\x7e]+$/i.test(url));
  expect(urls.length).toBeGreaterThan(250);
  expect(await notRefused(urls, (url) => ask(`${base}/${encodeURIComponent(url)}`))).toEqual([]);
  expect(new Set(dialled)).toEqual(new Set([publicAddress]));
  expect(dialled).toHaveLength(urls.length);
  expect(hits()).toBe(0);
});

test("the canary is there, and each of these spellings means it", async () => {
  const { port, hits } = await canary();
  const { ask } = internet();
  for (const spelling of spellings) {
    const { body, url } = await ask(`http://${spelling}:${port}/`, { allowedHosts: ["127.0.0.1"] });
    expect(`${spelling} ${body} ${url}`).toBe(`${spelling} canary http://127.0.0.1:${port}/`);
  }
  expect(hits()).toBe(spellings.length);
});

test("a refusal says what it is about and what to do", async () => {
  const { ask } = internet(hiddenNames);
  const message = (entry: string) =>
    `The address is not public; an administrator may add ${entry} to the policy httpAllowedHosts`;
  for (const host of ["127.0.0.1", "[::1]", "localhost", "private.test"]) {
    await expect(ask(`http://${host}/`)).rejects.toThrow(new EgressError(message(`${host}:80`)));
    await expect(ask(`http://${host}:11434/`)).rejects.toThrow(new EgressError(message(`${host}:11434`)));
  }
  await expect(ask("http://nobody.test/")).rejects.toThrow(new EgressError("The host name is not known"));
});

test("a name whose address changes between two lookups is looked up once, and connected to at that address", async () => {
  const { port, hits } = await canary();
  let looks = 0;
  const { ask, serve, resolved, dialled } = internet({
    "rebinding.test": () => {
      looks += 1;
      return [looks === 1 ? publicAddress : "127.0.0.1"];
    },
  });
  const base = (await serve((_, response) => response.end("public"))).replace("public.test", "rebinding.test");
  expect((await ask(base)).body).toBe("public");
  expect(resolved).toEqual(["rebinding.test"]);
  expect(dialled).toEqual([publicAddress]);

  await expect(ask(`http://rebinding.test:${port}/`)).rejects.toThrow("The address is not public");
  expect(dialled).toEqual([publicAddress]);
  expect(hits()).toBe(0);
});

test("a redirect to the same host is checked anew", async () => {
  const answers = [publicAddress, "127.0.0.1"];
  const { ask, serve, dialled } = internet({ "rebinding.test": () => [answers.shift() ?? ""] });
  const base = await serve((_, response) => response.writeHead(307, { Location: "/again" }).end());
  await expect(ask(base.replace("public.test", "rebinding.test"))).rejects.toThrow("The address is not public");
  expect(dialled).toEqual([publicAddress]);
});

test("one address that is not public rules out the others of its name", async () => {
  const { ask, serve, dialled } = internet({ "both.test": [publicAddress, "10.0.0.1"] });
  const base = await serve((_, response) => response.end());
  await expect(ask(base.replace("public.test", "both.test"))).rejects.toThrow("The address is not public");
  expect(dialled).toEqual([]);
});

test("a policy opens a host by its exact name, and with a port only that port", async () => {
  const { port, hits } = await canary();
  const { ask } = internet({ "erp.internal": ["127.0.0.1"], "other.internal": ["127.0.0.1"] });
  const opened = async (host: string, ...allowedHosts: string[]) =>
    ask(`http://${host}:${port}/`, { allowedHosts }).then(
      ({ body }) => body === "canary",
      () => false,
    );
  expect(await opened("erp.internal", "erp.internal")).toBe(true);
  expect(await opened("erp.internal", "none.internal", `erp.internal:${port}`)).toBe(true);
  expect(await opened("ERP.internal.", "erp.internal")).toBe(true);
  expect(await opened("127.0.0.1", "127.0.0.1")).toBe(true);
  expect(await opened("localhost", "localhost")).toBe(false); // This resolver does not know it.
  expect(hits()).toBe(4);

  expect(await opened("erp.internal", `erp.internal:${port + 1}`)).toBe(false);
  expect(await opened("other.internal", "erp.internal", "internal", "127.0.0.1")).toBe(false);
  expect(await opened("a.erp.internal", "erp.internal")).toBe(false);
  expect(await opened("127.0.0.2", "127.0.0.1", "erp.internal")).toBe(false);
  expect(await opened("[::ffff:127.0.0.1]", "127.0.0.1")).toBe(false);
  expect(hits()).toBe(4);
});

test("an opened IPv6 address is reached where the machine has one", async (context) => {
  const { port } = await canary();
  const reached = await fetch(`http://[::1]:${port}/`).then(
    () => true,
    () => false,
  );
  if (!reached) skipHere(context, "no IPv6 on this machine");
  const { ask } = internet();
  expect((await ask(`http://[::1]:${port}/`, { allowedHosts: ["[::1]"] })).body).toBe("canary");
  expect((await ask(`http://[0:0::1]:${port}/`, { allowedHosts: [`[::1]:${port}`] })).body).toBe("canary");
});

test("a redirect may lead from outside to an opened host, and from there to no other", async () => {
  const { port, hits } = await canary();
  const { ask, serve } = internet();
  const base = await serve(({ url }, response) =>
    response.writeHead(302, { Location: decodeURIComponent(url.slice(1)) }).end(),
  );
  const to = (url: string) => `${base}/${encodeURIComponent(url)}`;
  const allowedHosts = ["127.0.0.1"];
  expect((await ask(to(`http://127.0.0.1:${port}/`), { allowedHosts })).body).toBe("canary");
  await expect(ask(to(`http://127.0.0.3:${port}/`), { allowedHosts })).rejects.toThrow("The address is not public");
  expect(hits()).toBe(1);
});

test("the system's own resolver is asked when none is given", async () => {
  const { port, hits } = await canary();
  const egress = createEgress({ clock: new TestClock() });
  const { signal } = new AbortController();
  const request = { method: "GET", headers: {}, sensitive: false, maxBytes: 100, signal };
  const url = `http://localhost:${port}/`;
  expect((await egress.request({ ...request, url, allowedHosts: ["localhost"] })).body).toBe("canary");
  const before = hits();
  await expect(egress.request({ ...request, url, allowedHosts: [] })).rejects.toThrow("The address is not public");
  expect(hits()).toBe(before);
});
