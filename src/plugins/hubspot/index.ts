import { definePlugin, type Plugin } from "../../core/plugins/plugin.ts";
import { hostOf } from "../json-api.ts";
import { hubspotApi, tokenKey } from "./api.ts";
import { contactTools } from "./contacts.ts";
import { dealTools } from "./deals.ts";
import { noteTools } from "./notes.ts";

/** Contacts, deals and notes in HubSpot's CRM. */
export function hubspotPlugin({ baseUrl = "https://api.hubapi.com" }: { baseUrl?: string | undefined } = {}): Plugin {
  const ask = hubspotApi(baseUrl);
  return definePlugin({
    namespace: "hubspot",
    title: "HubSpot",
    hosts: [hostOf(baseUrl)],
    secrets: [
      {
        key: tokenKey,
        type: "text",
        label: "HubSpot access token",
        description:
          "The token of a private app with the scopes crm.objects.contacts.read and crm.objects.deals.read, and those ending in .write for changes.",
        sensitive: true,
      },
    ],
    tools: [...contactTools(ask), ...dealTools(ask), ...noteTools(ask)],
  });
}
