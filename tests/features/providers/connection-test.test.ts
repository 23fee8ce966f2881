import { expect, test, vi } from "vitest";
import { startFakeProvider } from "../../fake-provider.ts";
import { auditOf } from "../organizations/callers.ts";
import { apiKey, type Providers, silentHost, withProviders } from "./providers.ts";

const unreached = { ok: false, latencyMs: null, error: "The address can't be reached" };
const list = JSON.stringify({ data: [{ id: "llama" }] });

/** Connects to an address and tests it; answers the test's result. */
async function begin(h: Providers, baseUrl: string, fields: Record<string, unknown> = {}) {
  const name = `Connection ${(await h.list(h.own)).length}`;
  const { id } = await h.connect(h.own, { name, provider: "openai-compatible", baseUrl, ...fields });
  let result: unknown = null;
  const tested = h.answer(h.send("POST", `${h.own}/${id}/test`)).then((body) => {
    result = body;
  });
  return { tested, result: () => result };
}

test("every address without an answer gets the same answer at the same time", async () => {
  const h = await withProviders();
  const provider = await startFakeProvider({ status: 200, body: list });
  const { host } = new URL(provider.url);
  const silent = await silentHost();
  h.allowHosts(silent, "127.0.0.1:1");
  // The first one is open, but not allowed; the second is closed.
  const refused = [`http://${host}/v1`, "http://127.0.0.1:1", "http://169.254.169.254/latest", "http://[::1]:1/v1"];
  for (const address of [...refused, `http://${silent}`]) {
    const before = h.logs.length;
    const { tested, result } = await begin(h, address);
    if (!address.includes(silent)) {
      const failed = () => expect(h.logs.slice(before).join()).toContain("The test of a connection got no answer");
      await vi.waitFor(failed, { timeout: 10_000 });
    } else await vi.waitFor(() => expect(h.clock.waiting(5_000)).toBe(true));
    await h.clock.advance(4_999);
    expect(result(), address).toBeNull();
    await h.clock.advance(1);
    await tested;
    expect(result(), address).toEqual(unreached);
  }
  expect(provider.exchanges).toEqual([]);
  const log = (await auditOf(h)).filter(({ action }) => action === "provider-connection.test");
  expect(log.map(({ summary }) => summary?.error)).toEqual(Array(5).fill(unreached.error));
});

test("a provider's answer is told in our own words, and keeps nothing", async () => {
  const h = await withProviders();
  const provider = await startFakeProvider();
  h.allowHosts(new URL(provider.url).host);
  const canary = "canary-of-the-provider";
  const otherApi = "The address does not answer as the provider's API does: check it (status 200)";
  const rows = [
    [{ status: 200, body: list }, null],
    [{ status: 200, body: "[".repeat(100_000) }, otherApi],
    [{ status: 200, headers: { "Content-Type": "text/html" }, body: canary }, otherApi],
    [{ status: 401, body: `${canary} ${apiKey}` }, "The provider refused the key (status 401)"],
    [{ status: 500, body: canary }, "The provider failed (status 500)"],
    [
      { status: 302, headers: { Location: "http://169.254.169.254/" } },
      "The address redirects: give the one that it redirects to (status 302)",
    ],
  ] as const;
  for (const [reply, error] of rows) {
    provider.answer(reply);
    const { tested, result } = await begin(h, provider.url);
    await tested;
    expect(result()).toEqual({ ok: error === null, latencyMs: 0, error });
  }
  expect(provider.exchanges.map(({ path, headers }) => [path, headers.authorization])).toEqual(
    rows.map(() => ["/v1/models", `Bearer ${apiKey}`]),
  );
  const told = JSON.stringify(await h.services.database.query("select * from audit_logs", [])) + h.logs.join();
  expect(told).not.toContain(canary);
  expect(told).not.toContain(apiKey);
});

test.each([
  ["deepgram", { projects: [{ project_id: "p" }] }, "/v1/projects", { authorization: `Token ${apiKey}` }],
  ["elevenlabs", [{ model_id: "eleven_v3" }], "/v1/models", { "xi-api-key": apiKey }],
  ["google", { models: [{ name: "models/gemini" }] }, "/v1beta/models?pageSize=1000", { "x-goog-api-key": apiKey }],
] as const)("a connection to %s is tested by its own list", async (provider, body, path, headers) => {
  const h = await withProviders();
  const fake = await startFakeProvider({ status: 200, body: JSON.stringify(body) });
  h.allowHosts(new URL(fake.url).host);
  const { tested, result } = await begin(h, new URL(fake.url).origin, { provider });
  await tested;
  expect(result()).toEqual({ ok: true, latencyMs: 0, error: null });
  expect(fake.exchanges).toMatchObject([{ path, headers }]);
});

test("a test needs no other server for the built-in model, and a key for the others", async () => {
  const h = await withProviders();
  const result = async (fields: Record<string, unknown>) => {
    const { id } = await h.connect(h.shared, { apiKey: null, ...fields });
    return h.answer(h.send("POST", `${h.shared}/${id}/test`));
  };
  expect(await result({ name: "Demo", provider: "demo", enabled: false })).toEqual({
    ok: true,
    latencyMs: 0,
    error: null,
  });
  expect(await result({ provider: "anthropic" })).toEqual({
    ok: false,
    latencyMs: null,
    error: "The connection has no key",
  });
});
