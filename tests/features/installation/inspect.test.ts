import { expect, test } from "vitest";
import { newToken } from "../../../src/core/credentials/tokens.ts";
import { newId } from "../../../src/core/ids.ts";
import { defaultPolicies } from "../../../src/core/policies.ts";
import { accessTokens, installation } from "../../../src/db/schema.ts";
import { isSensitiveHost } from "../../../src/features/installation/rules.ts";
import { harness } from "../../harness.ts";

test.each([
  "localhost",
  "localhost.:80",
  "api.localhost",
  "127.0.0.1",
  "127.9.9.9:8080",
  "127.1",
  "0x7f.1",
  "2130706433",
  "0.0.0.0",
  "[::1]",
  "[::]:80",
  "[0:0:0:0:0:0:0:1]:80",
  "[::ffff:127.0.0.1]",
  "[::ffff:169.254.169.254]:80",
  "[fe80::1]",
  "[fd00:ec2::254]",
  "169.254.169.254",
  "169.254.170.2:80",
  "100.100.100.200",
  "metadata.google.internal",
])("%s is this machine or has a cloud's credentials", (host) => {
  expect(isSensitiveHost(host)).toBe(true);
});

test.each([
  "erp.internal:8080",
  "10.0.0.1",
  "192.168.1.1:80",
  "128.0.0.1",
  "[fd00::1]",
  "localhost.example",
  "169.253.1.1",
])("%s is neither", (host) => {
  expect(isSensitiveHost(host)).toBe(false);
});

test("an installation that was never started has nothing that is weak", async () => {
  const h = await harness();
  expect((await h.engine.inspect()).settings).toEqual({
    policies: defaultPolicies,
    sensitiveHosts: [],
    organizations: 1,
    endlessKeys: 0,
    openAgents: [],
    unboundedAgents: [],
  });
});

test("counts endless keys, organizations and agents without a key, and finds hosts", async () => {
  const h = await harness();
  const { db } = h.services.database;
  const policies = { httpAllowedHosts: ["erp:80", "localhost:80"], environmentKeys: "none", someday: 1 };
  await db.insert(installation).values({ id: 1, policies });
  const other = await h.createOrganization("other");
  for (const expiresAt of [null, null, new Date(h.clock.now() + 1000)]) {
    const { digest } = await newToken("management");
    await db
      .insert(accessTokens)
      .values({ id: newId(), kind: "management", digest, organizationId: other.id, expiresAt });
  }
  const agents = [
    { authEnabled: false, userMonthlyTokenBudget: 1_000 },
    { authEnabled: false, userMonthlyTokenBudget: 1_000, monthlyTokenBudget: 9_000 },
    { authEnabled: false, active: false },
    { authEnabled: true },
  ];
  for (const fields of agents) await h.agent(fields);
  await h.request("/api/instances", {
    method: "POST",
    headers: await h.as("owner"),
    json: { slug: "web-off", authEnabled: false },
  });
  expect((await h.engine.inspect()).settings).toEqual({
    policies: { ...defaultPolicies, httpAllowedHosts: policies.httpAllowedHosts, environmentKeys: "none" },
    sensitiveHosts: ["localhost:80"],
    organizations: 2,
    endlessKeys: 2,
    openAgents: ["agent-1", "agent-2"],
    unboundedAgents: ["agent-1"],
  });
});
