import { z } from "@hono/zod-openapi";
import { type JsonObject, objectOf, textOf } from "../../core/json.ts";
import type { PluginTool } from "../../core/plugins/plugin.ts";
import { zText } from "../../core/text/text.ts";
import type { AskApi } from "../json-api.ts";
import { given, longText, textOrNull } from "../shapes.ts";
import { describeTool } from "../tool.ts";
import { id, ids, pageFields } from "./fields.ts";
import { associationsTo, pageOf, recordsPath, sortOf } from "./records.ts";

export const noteTools = (ask: AskApi): PluginTool[] => [createNote(ask), listNotes(ask)];

/** HubSpot's types of the associations of a note. */
const [noteToContact, noteToDeal] = [202, 214];

const longestNote = 65_536;

const createNote = (ask: AskApi) =>
  describeTool({
    name: "createNote",
    description: "Adds a note to contacts or deals in HubSpot.",
    input: z.object({
      body: zText(longestNote).min(1, "must not be empty").describe("Plain text."),
      contacts: ids.default([]).describe("Ids of contacts."),
      deals: ids.default([]).describe("Ids of deals."),
    }),
    writes: true,
    execute: async ({ body, contacts, deals }, context) => {
      const associations = [...associationsTo(contacts, noteToContact), ...associationsTo(deals, noteToDeal)];
      if (associations.length === 0) throw new Error("Give at least one contact or deal that the note belongs to");
      const html = textToHtml(body);
      if (html.length > longestNote)
        throw new Error(`body has more than ${longestNote} characters as HTML; shorten it`);
      const answer = await ask(context, {
        method: "POST",
        path: recordsPath("notes"),
        json: {
          properties: { hs_note_body: html, hs_timestamp: new Date(context.now()).toISOString() },
          associations,
        },
      });
      const note = objectOf(answer.body);
      return { id: textOrNull(note.id), createdAt: textOrNull(note.createdAt) };
    },
  });

const listNotes = (ask: AskApi) =>
  describeTool({
    name: "listNotes",
    description:
      "Lists the notes of a contact or of a deal in HubSpot, newest first. `next` continues, null at the end. A new note is found some seconds later.",
    input: z.object({
      contact: id.optional().describe("The contact's id; either this or deal."),
      deal: id.optional().describe("The deal's id; either this or contact."),
      ...pageFields,
    }),
    writes: false,
    execute: async ({ contact, deal, limit, after }, context) => {
      if ((contact === undefined) === (deal === undefined)) throw new Error("Give either contact or deal");
      const [propertyName, value] = contact ? ["associations.contact", contact] : ["associations.deal", deal];
      const answer = await ask(context, {
        method: "POST",
        writes: false,
        path: recordsPath("notes", "search"),
        json: given({
          filterGroups: [{ filters: [given({ propertyName, operator: "EQ", value })] }],
          sorts: [sortOf("hs_timestamp", true)],
          properties: ["hs_note_body", "hs_timestamp", "hubspot_owner_id"],
          limit,
          after,
        }),
      });
      return pageOf(answer, noteOf);
    },
  });

const longestBody = 10_000;

function noteOf(value: unknown): JsonObject {
  const note = objectOf(value);
  const { hs_note_body: body, hs_timestamp: time, hubspot_owner_id: owner } = objectOf(note.properties);
  return {
    id: textOrNull(note.id),
    time: textOrNull(time),
    owner: textOrNull(owner),
    body: longText(htmlToText(textOf(body)), longestBody),
  };
}

/** Converts plain text to HTML, the format of notes. */
export function textToHtml(text: string): string {
  const escaped = text.replace(/[&<>]/g, (char) => entities.get(char) ?? char);
  return escaped.replaceAll(/\r?\n/g, "<br>");
}

/** The text of a note, with its line breaks. */
export function htmlToText(html: string): string {
  return html
    .replaceAll(/<(?:br|\/p|\/div|\/li|\/h[1-6]|\/tr)\b[^<>]*>/gi, "\n")
    .replaceAll(/<[a-z/!][^<>]*>/gi, "")
    .replaceAll(/&(?:lt|gt|quot|nbsp|#39|#x27|amp);/g, (entity) => characters.get(entity) ?? entity)
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

const entities = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
]);

const characters = new Map([
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&nbsp;", " "],
  ["&#39;", "'"],
  ["&#x27;", "'"],
  ["&amp;", "&"],
]);
