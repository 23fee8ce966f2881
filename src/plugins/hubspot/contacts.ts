import { z } from "@hono/zod-openapi";
import type { PluginTool } from "../../core/plugins/plugin.ts";
import type { AskApi } from "../json-api.ts";
import { describeTool } from "../tool.ts";
import { contact, moreProperties, search, writtenProperties } from "./fields.ts";
import { associatedWith, type Kind, recordOf, recordsPath, searchRecords, wanted } from "./records.ts";

export const contactTools = (ask: AskApi): PluginTool[] => [
  searchContacts(ask),
  getContact(ask),
  createContact(ask),
  updateContact(ask),
];

const contacts: Kind = {
  name: "contacts",
  properties: [
    ...["firstname", "lastname", "email", "phone", "company", "jobtitle"],
    ...["lifecyclestage", "hs_lead_status", "hubspot_owner_id"],
  ],
};

/** The parameter with which HubSpot accepts an e-mail address instead of an id. */
const byEmail = (contact: string) => ({ idProperty: contact.includes("@") ? "email" : undefined });

const searchContacts = (ask: AskApi) =>
  describeTool({
    name: "searchContacts",
    description:
      "Searches contacts in HubSpot by words and filters; without either it lists all. `next` continues, null at the end. A new contact is found some seconds later.",
    input: search,
    writes: false,
    execute: (input, context) => searchRecords(ask, context, contacts, input),
  });

const getContact = (ask: AskApi) =>
  describeTool({
    name: "getContact",
    description: "Reads a contact in HubSpot.",
    input: z.object({
      contact,
      properties: moreProperties,
      deals: z.boolean().default(false).describe("Whether to give the ids of its deals."),
    }),
    writes: false,
    execute: async ({ contact, properties, deals }, context) => {
      const { body } = await ask(context, {
        path: recordsPath(contacts.name, contact),
        query: {
          properties: wanted(contacts, properties).join(","),
          associations: deals ? "deals" : undefined,
          ...byEmail(contact),
        },
      });
      return deals ? { ...recordOf(body), deals: associatedWith(body, "deals") } : recordOf(body);
    },
  });

const createContact = (ask: AskApi) =>
  describeTool({
    name: "createContact",
    description:
      "Adds a contact to HubSpot. Search first: an e-mail address belongs to one contact only, and a second one is refused with the id of the first.",
    input: z.object({
      properties: writtenProperties.describe(
        "By internal names: email, firstname, lastname, phone, company, jobtitle…",
      ),
    }),
    writes: true,
    execute: async ({ properties }, context) => {
      const { body } = await ask(context, {
        method: "POST",
        path: recordsPath(contacts.name),
        json: { properties },
      });
      return recordOf(body);
    },
  });

const updateContact = (ask: AskApi) =>
  describeTool({
    name: "updateContact",
    description: 'Changes properties of a contact in HubSpot; all others stay. "" empties one.',
    input: z.object({ contact, properties: writtenProperties }),
    writes: true,
    execute: async ({ contact, properties }, context) => {
      const { body } = await ask(context, {
        method: "PATCH",
        path: recordsPath(contacts.name, contact),
        query: byEmail(contact),
        json: { properties },
      });
      return recordOf(body);
    },
  });
