import { z } from "@hono/zod-openapi";
import type { PluginTool } from "../../core/plugins/plugin.ts";
import type { AskApi } from "../json-api.ts";
import { describeTool } from "../tool.ts";
import { deal, ids, moreProperties, search, writtenProperties } from "./fields.ts";
import { associatedWith, associationsTo, type Kind, recordOf, recordsPath, searchRecords, wanted } from "./records.ts";

export const dealTools = (ask: AskApi): PluginTool[] => [
  searchDeals(ask),
  getDeal(ask),
  createDeal(ask),
  updateDeal(ask),
];

const deals: Kind = {
  name: "deals",
  properties: ["dealname", "amount", "deal_currency_code", "dealstage", "pipeline", "closedate", "hubspot_owner_id"],
};

/** HubSpot's type of the association between a deal and a contact. */
const dealToContact = 3;

const searchDeals = (ask: AskApi) =>
  describeTool({
    name: "searchDeals",
    description:
      "Searches deals in HubSpot by words and filters; without either it lists all. `next` continues, null at the end. A new deal is found some seconds later.",
    input: search,
    writes: false,
    execute: (input, context) => searchRecords(ask, context, deals, input),
  });

const getDeal = (ask: AskApi) =>
  describeTool({
    name: "getDeal",
    description: "Reads a deal in HubSpot.",
    input: z.object({
      deal,
      properties: moreProperties,
      contacts: z.boolean().default(false).describe("Whether to give the ids of its contacts."),
    }),
    writes: false,
    execute: async ({ deal, properties, contacts }, context) => {
      const { body } = await ask(context, {
        path: recordsPath(deals.name, deal),
        query: {
          properties: wanted(deals, properties).join(","),
          associations: contacts ? "contacts" : undefined,
        },
      });
      return contacts ? { ...recordOf(body), contacts: associatedWith(body, "contacts") } : recordOf(body);
    },
  });

const createDeal = (ask: AskApi) =>
  describeTool({
    name: "createDeal",
    description: "Adds a deal to HubSpot.",
    input: z.object({
      properties: writtenProperties.describe(
        "By internal names: dealname, dealstage and pipeline (ids, such as those of another deal), amount, closedate…",
      ),
      contacts: ids.default([]).describe("Ids of the contacts that it belongs to."),
    }),
    writes: true,
    execute: async ({ properties, contacts }, context) => {
      const { body } = await ask(context, {
        method: "POST",
        path: recordsPath(deals.name),
        json: { properties, associations: associationsTo(contacts, dealToContact) },
      });
      return recordOf(body);
    },
  });

const updateDeal = (ask: AskApi) =>
  describeTool({
    name: "updateDeal",
    description: 'Changes properties of a deal in HubSpot; all others stay. "" empties one.',
    input: z.object({ deal, properties: writtenProperties }),
    writes: true,
    execute: async ({ deal, properties }, context) => {
      const { body } = await ask(context, {
        method: "PATCH",
        path: recordsPath(deals.name, deal),
        json: { properties },
      });
      return recordOf(body);
    },
  });
