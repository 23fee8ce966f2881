import { describe, expect, test } from "vitest";
import {
  isReachable,
  mergeFields,
  missingFields,
  openedConfig,
  shownFields,
  transportOf,
} from "../../../src/features/channels/messengers/rules.ts";

const accountSid = `AC${"a".repeat(32)}`;
const keys = { apiKeySid: `SK${"b".repeat(32)}`, apiKeySecret: "key-secret" };
const byToken = { mode: "auth_token", accountSid, authToken: "the-auth-token", whatsappNumber: "+390612345678" };

describe("merging what is sent into what is stored", () => {
  test("what is left out, masked or empty keeps a credential; other fields can be emptied", () => {
    const stored = { botToken: "1:token", allowedUserIds: "1,2", transport: "polling" };
    expect(mergeFields("telegram", stored, {}).fields).toEqual(stored);
    expect(mergeFields("telegram", stored, { botToken: "••••oken" }).fields).toEqual(stored);
    expect(mergeFields("telegram", stored, { botToken: "" }).fields).toEqual(stored);
    const emptied = mergeFields("telegram", stored, { botToken: "2:new", allowedUserIds: "", transport: null });
    expect(emptied.fields).toEqual({ botToken: "2:new" });
  });

  test("the mask of a credential round-trips", () => {
    const stored = { botToken: "123:abcdefgh", allowedUserIds: "7", webhookSecret: "hidden" };
    const shown = shownFields("telegram", stored);
    expect(shown).toEqual({ botToken: "••••efgh", allowedUserIds: "7" });
    expect(mergeFields("telegram", stored, shown).fields).toEqual(stored);
  });

  test("WhatsApp's mode follows from the credentials, and the other mode's are discarded with its webhook", () => {
    const toKey = mergeFields("whatsapp", byToken, keys);
    expect(toKey).toEqual({
      fields: { mode: "api_key", accountSid, ...keys, whatsappNumber: "+390612345678" },
      problems: [],
    });
    const back = mergeFields("whatsapp", { ...toKey.fields, webhookSecret: "w" }, { authToken: "the-auth-token" });
    expect(back).toEqual({ fields: byToken, problems: [] });
    expect(mergeFields("whatsapp", byToken, { ...keys, authToken: "••••oken" }).problems).toEqual([]);
  });

  test("both credential sets, or those of another mode, are refused by name", () => {
    const both = mergeFields("whatsapp", {}, { authToken: "the-auth-token", ...keys });
    expect(both.problems).toEqual([
      { path: ["config", "mode"], message: "send either authToken, or apiKeySid and apiKeySecret" },
    ]);
    const other = mergeFields("whatsapp", {}, { mode: "auth_token", ...keys });
    expect(other.problems).toEqual([
      { path: ["config", "apiKeySid"], message: "is no credential of the mode auth_token" },
    ]);
  });
});

describe("the transport", () => {
  test.each([
    ["https://agents.example.com", true],
    ["https://93.184.216.34", true],
    ["https://[2606:2800:220:1::1]", true],
    ["https://203.0.113.7", false],
    ["https://100.64.0.9", false],
    ["https://nas.local.", false],
    ["https://router.home.arpa", false],
    ["http://agents.example.com", false],
    ["https://localhost:4000", false],
    ["https://nas.local", false],
    ["https://nas", false],
    ["https://192.168.1.4", false],
    ["https://10.0.0.1", false],
    ["https://[::1]", false],
    ["https://[fd00::1]", false],
    ["nonsense", false],
  ])("a messenger may reach %s: %s", (address, reachable) => {
    expect(isReachable(address)).toBe(reachable);
  });

  test("is a webhook where a messenger can reach the server, else what asks the messenger", () => {
    const [open, home] = ["https://agents.example.com", "http://localhost:4000"];
    expect(transportOf("telegram", {}, open)).toBe("webhook");
    expect(transportOf("telegram", {}, home)).toBe("polling");
    expect(transportOf("telegram", { transport: "polling" }, open)).toBe("polling");
    expect(transportOf("slack", { appToken: "xapp-1" }, home)).toBe("socket");
    expect(transportOf("slack", {}, home)).toBe("webhook");
    expect(transportOf("whatsapp", {}, home)).toBe("webhook");
  });
});

test("the missing fields of a channel are named one by one, and a complete one opens", () => {
  const missing = (field: string, name: string) => ({
    path: ["config", field],
    message: `is needed before ${name} can be turned on`,
  });
  expect(missingFields("telegram", {}, "polling")).toEqual([missing("botToken", "telegram")]);
  expect(missingFields("slack", { botToken: "xoxb-1" }, "webhook")).toEqual([missing("signingSecret", "slack")]);
  expect(missingFields("slack", { botToken: "xoxb-1" }, "socket")).toEqual([missing("appToken", "slack")]);
  expect(missingFields("whatsapp", { mode: "api_key", accountSid }, "webhook")).toEqual([
    missing("apiKeySid", "whatsapp"),
    missing("apiKeySecret", "whatsapp"),
    missing("whatsappNumber", "whatsapp"),
  ]);
  expect(missingFields("whatsapp", byToken, "webhook")).toEqual([]);
  expect(openedConfig("whatsapp", byToken, "webhook")).toEqual({
    name: "whatsapp",
    config: {
      accountSid,
      whatsappNumber: "+390612345678",
      credentials: { mode: "auth_token", authToken: "the-auth-token" },
    },
  });
});
