import { describe, expect, test } from "vitest";
import { hubspotPlugin } from "../../src/plugins/hubspot/index.ts";
import { htmlToText, textToHtml } from "../../src/plugins/hubspot/notes.ts";
import recorded from "../fixtures/plugins/hubspot.json" with { type: "json" };
import { fakeService } from "./fake-service.ts";

const token = "pat-eu1-0a1b2c3d-4e5f-6789-abcd-ef0123456789";
const at = "/crm/v3/objects";

const hubspot = (answers: Parameters<typeof fakeService>[0]["answers"] = {}) =>
  fakeService({ plugin: hubspotPlugin(), secrets: { hubspot_access_token: token }, answers });

const usual = [
  ...["firstname", "lastname", "email", "phone", "company", "jobtitle"],
  ...["lifecyclestage", "hs_lead_status", "hubspot_owner_id"],
];

describe("searches", () => {
  test("find contacts by words and filters, a page at a time", async () => {
    const service = hubspot({ [`POST ${at}/contacts/search`]: { body: recorded.contacts } });
    const search = {
      query: "analytical",
      filters: [
        { property: "createdate", operator: "BETWEEN", value: "2026-01-01", highValue: "2026-12-31" },
        { property: "lifecyclestage", operator: "IN", values: ["lead", "customer"] },
        { property: "email", operator: "HAS_PROPERTY" },
      ],
      sortBy: "createdate",
      descending: true,
      properties: ["city", "email"],
      limit: 2,
      after: "4",
    };
    expect(await service.call("searchContacts", search)).toEqual({
      total: 40,
      results: [
        {
          id: "32001",
          url: "https://app.hubspot.com/contacts/4711/record/0-1/32001",
          properties: {
            company: "Analytical Engines",
            createdate: "2026-05-04T12:00:00.000Z",
            email: "ada@analytical.example",
            firstname: "Ada",
            hs_lead_status: null,
            hubspot_owner_id: "910901",
            jobtitle: "Mathematician",
            lastmodifieddate: "2026-11-20T16:45:00.000Z",
            lastname: "Lovelace",
            lifecyclestage: "customer",
            phone: null,
          },
          createdAt: "2026-05-04T12:00:00.000Z",
          updatedAt: "2026-11-20T16:45:00.000Z",
        },
        expect.objectContaining({ id: "32002" }),
      ],
      next: "2",
    });
    expect(service.last().json).toEqual({
      query: "analytical",
      filterGroups: [
        {
          filters: [
            { propertyName: "createdate", operator: "BETWEEN", value: "2026-01-01", highValue: "2026-12-31" },
            { propertyName: "lifecyclestage", operator: "IN", values: ["lead", "customer"] },
            { propertyName: "email", operator: "HAS_PROPERTY" },
          ],
        },
      ],
      sorts: [{ propertyName: "createdate", direction: "DESCENDING" }],
      properties: [...usual, "city"],
      limit: 2,
      after: "4",
    });
  });

  test("without words and filters list all, and the last page says so", async () => {
    const service = hubspot({
      [`POST ${at}/contacts/search`]: { body: recorded.lastContacts },
      [`POST ${at}/deals/search`]: { body: recorded.deals },
    });
    expect(await service.call("searchContacts", {})).toMatchObject({ total: 40, next: null });
    expect(service.last().json).toEqual({ properties: usual, limit: 20 });
    expect(await service.call("searchDeals", {})).toMatchObject({
      results: [{ id: "700", properties: { dealname: "Engine no. 2", amount: "1500.00" } }],
    });
  });

  test.each([
    [{ property: "email", operator: "EQ" }, "needs value with the operator EQ"],
    [{ property: "amount", operator: "BETWEEN", value: "1" }, "needs highValue with the operator BETWEEN"],
    [{ property: "email", operator: "NOT_IN", value: "a" }, "needs values with the operator NOT_IN"],
    [{ property: "e-mail", operator: "HAS_PROPERTY" }, "must be the internal name of a property"],
    [{ property: "email", operator: "LIKE", value: "a" }, "filters 0 operator"],
  ])("the filter %j is refused before a request", async (filter, message) => {
    const service = hubspot();
    await expect(service.call("searchDeals", { filters: [filter] })).rejects.toThrow(message);
    expect(service.asked).toEqual([]);
  });
});

describe("records", () => {
  test("a contact is read by its id or its e-mail address", async () => {
    const service = hubspot({
      [`GET ${at}/contacts/32001`]: { body: recorded.contactWithDeals },
      [`GET ${at}/contacts/a%2Fb%3F%26%40analytical.example`]: { body: recorded.contact },
    });
    expect(await service.call("getContact", { contact: "32001", deals: true })).toMatchObject({
      id: "32001",
      deals: ["700", "701"],
    });
    const query = Object.fromEntries(new URL(service.last().url).searchParams);
    expect(query).toEqual({ properties: usual.join(","), associations: "deals" });
    const byEmail = await service.call("getContact", { contact: "a/b?&@analytical.example", properties: ["city"] });
    expect(byEmail).not.toHaveProperty("deals");
    const { searchParams } = new URL(service.last().url);
    expect(searchParams.get("idProperty")).toBe("email");
    expect(searchParams.get("properties")).toBe([...usual, "city"].join(","));
  });

  test("a deal is read with its contacts", async () => {
    const service = hubspot({ [`GET ${at}/deals/700`]: { body: recorded.dealWithContacts } });
    expect(await service.call("getDeal", { deal: "700", contacts: true })).toMatchObject({
      properties: { dealstage: "presentationscheduled" },
      contacts: ["32001"],
    });
  });

  test("long values are shortened", async () => {
    const contact = { ...recorded.contact, properties: { notes: "x".repeat(60_000) } };
    const service = hubspot({ [`GET ${at}/contacts/1`]: { body: contact } });
    const result = await service.call("getContact", { contact: "1" });
    expect(result).toMatchObject({ properties: { notes: `${"x".repeat(5_000)}… (55000 more characters)` } });
  });

  test("contacts and deals are added and changed", async () => {
    const service = hubspot({
      [`POST ${at}/contacts`]: { status: 201, body: recorded.contact },
      [`PATCH ${at}/contacts/ada%40analytical.example`]: { body: recorded.contact },
      [`POST ${at}/deals`]: { status: 201, body: recorded.deal },
      [`PATCH ${at}/deals/700`]: { body: recorded.deal },
    });
    const properties = { firstname: "Ada", newsletter: true, employees: 3, phone: "" };
    const texts = { firstname: "Ada", newsletter: "true", employees: "3", phone: "" };
    expect(await service.call("createContact", { properties })).toMatchObject({ id: "32001" });
    expect(service.last().json).toEqual({ properties: texts });
    await service.call("updateContact", { contact: "ada@analytical.example", properties });
    expect(service.last()).toMatchObject({ method: "PATCH", json: { properties: texts } });
    expect(new URL(service.last().url).search).toBe("?idProperty=email");
    const deal = { dealname: "Engine no. 2" };
    expect(await service.call("createDeal", { properties: deal, contacts: ["32001"] })).toMatchObject({ id: "700" });
    expect(service.last().json).toEqual({
      properties: deal,
      associations: [
        { to: { id: "32001" }, types: [{ associationCategory: "HUBSPOT_DEFINED", associationTypeId: 3 }] },
      ],
    });
    await service.call("updateDeal", { deal: "700", properties: { amount: 1500.5 } });
    expect(service.last().json).toEqual({ properties: { amount: "1500.5" } });
  });

  test.each([
    {},
    { "e-mail": "a" },
    { email: ["a"] },
    { email: "a\u0000" },
    { email: "x".repeat(65_537) },
    "email",
    null,
  ])("the properties %j reach no request", async (properties) => {
    const service = hubspot();
    await expect(service.call("createContact", { properties })).rejects.toThrow("not valid: properties ");
    await expect(service.call("updateDeal", { deal: "1", properties })).rejects.toThrow("not valid: properties ");
    expect(service.asked).toEqual([]);
  });
});

describe("notes", () => {
  test("are added to contacts and deals at the time of the call", async () => {
    const service = hubspot({ [`POST ${at}/notes`]: { status: 201, body: recorded.note } });
    const note = { body: "Wants 2 engines & <b>steel</b>.\nSoon.", contacts: ["32001"], deals: ["700"] };
    expect(await service.call("createNote", note)).toEqual({ id: "9003", createdAt: "2026-11-23T10:00:00Z" });
    expect(service.last().json).toEqual({
      properties: {
        hs_note_body: "Wants 2 engines &amp; &lt;b&gt;steel&lt;/b&gt;.<br>Soon.",
        hs_timestamp: "2026-11-23T10:00:00.000Z",
      },
      associations: [
        { to: { id: "32001" }, types: [{ associationCategory: "HUBSPOT_DEFINED", associationTypeId: 202 }] },
        { to: { id: "700" }, types: [{ associationCategory: "HUBSPOT_DEFINED", associationTypeId: 214 }] },
      ],
    });
  });

  test("that belong to nothing or are too long are refused before a request", async () => {
    const service = hubspot();
    await expect(service.call("createNote", { body: "x" })).rejects.toThrow("at least one contact or deal");
    const long = { body: "<".repeat(20_000), deals: ["1"] };
    await expect(service.call("createNote", long)).rejects.toThrow("body has more than 65536 characters as HTML");
    expect(service.asked).toEqual([]);
  });

  test("of a contact or a deal are listed newest first, as plain text", async () => {
    const service = hubspot({ [`POST ${at}/notes/search`]: { body: recorded.notes } });
    expect(await service.call("listNotes", { contact: "32001", limit: 5 })).toEqual({
      total: 2,
      results: [
        {
          id: "9002",
          time: "2026-11-19T10:00:00Z",
          owner: "910901",
          body: "Wants two engines.\nTax < 8 % & free delivery\nbrass\nsteel",
        },
        { id: "9001", time: "2026-11-18T10:00:00Z", owner: "910901", body: "" },
      ],
      next: null,
    });
    expect(service.last().json).toEqual({
      filterGroups: [{ filters: [{ propertyName: "associations.contact", operator: "EQ", value: "32001" }] }],
      sorts: [{ propertyName: "hs_timestamp", direction: "DESCENDING" }],
      properties: ["hs_note_body", "hs_timestamp", "hubspot_owner_id"],
      limit: 5,
    });
    await service.call("listNotes", { deal: "700", after: "5" });
    expect(service.last().json).toMatchObject({
      filterGroups: [{ filters: [{ propertyName: "associations.deal", value: "700" }] }],
      after: "5",
    });
    await expect(service.call("listNotes", {})).rejects.toThrow("Give either contact or deal");
    await expect(service.call("listNotes", { contact: "1", deal: "2" })).rejects.toThrow("Give either contact or deal");
  });

  test("text survives the conversion there and back", () => {
    for (const text of ["a < b && c > d", "&lt;b&gt; &amp;", "one\ntwo\n\nthree", 'He said "no" – it\'s <br>']) {
      expect(htmlToText(textToHtml(text))).toBe(text);
    }
  });

  test("broken and huge HTML takes little time", () => {
    const started = performance.now();
    for (const part of ["<", "<br", "<a ", "<p>", "&amp", "\n", "<!--", "</p "]) htmlToText(part.repeat(200_000));
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(htmlToText("1 < 2 and 3 > 2 <script>x</script>")).toBe("1 < 2 and 3 > 2 x");
  });
});

const { errors } = recorded;
test.each([
  [
    errors.unauthorized,
    /^HubSpot answered 401: Authentication credentials not found\..* The token in the secret hubspot_access_token is wrong or has expired/,
  ],
  [
    errors.noScope,
    /lacks the permission; the call needs the scope crm\.objects\.contacts\.read or crm\.objects\.contacts\.sensitive\.read\.$/,
  ],
  [errors.notFound, /^HubSpot answered 404: Object not found\. objectId are usually numeric\. There is no such thing/],
  [errors.conflict, /^HubSpot answered 409: Contact already exists\. Existing ID: 32001\.$/],
  [errors.invalid, /^HubSpot answered 400: Property values were not valid: .*Email address nowhere is invalid/],
  [
    errors.limited,
    /^HubSpot answered 429: You have reached your ten_secondly_rolling limit\. The rate limit is used up; try again in a minute or later\.$/,
  ],
])("%j", async (answer, message) => {
  const service = hubspot({ [`POST ${at}/contacts`]: answer });
  await expect(service.call("createContact", { properties: { email: "a" } })).rejects.toThrow(message);
});

test.each([
  "",
  "..",
  "1/2",
  "1?x",
  "-1",
  "1.5",
  "%31",
  "1 ",
  "a@b c",
  "a@b@c",
  "@",
  "1".repeat(21),
  12,
  null,
])("the id %j reaches no request", async (id) => {
  const service = hubspot();
  const properties = { email: "a" };
  await expect(service.call("getContact", { contact: id })).rejects.toThrow("not valid: contact ");
  await expect(service.call("updateContact", { contact: id, properties })).rejects.toThrow("not valid: contact ");
  await expect(service.call("getDeal", { deal: id })).rejects.toThrow("not valid: deal ");
  await expect(service.call("createNote", { body: "x", deals: [id] })).rejects.toThrow("not valid: deals 0 ");
  await expect(service.call("listNotes", { contact: id })).rejects.toThrow("not valid: contact ");
  expect(service.asked).toEqual([]);
});

test("a search without an answer changed nothing; a note may exist", async () => {
  const late = new Error("The host closed the connection without an answer");
  const service = hubspot({
    [`POST ${at}/contacts/search`]: late,
    [`POST ${at}/notes/search`]: late,
    [`POST ${at}/notes`]: late,
  });
  await expect(service.call("searchContacts", {})).rejects.toThrow(late);
  await expect(service.call("listNotes", { deal: "1" })).rejects.toThrow(late);
  const note = service.call("createNote", { body: "x", deals: ["1"] });
  await expect(note).rejects.toThrow(`${late.message}. The change may have been made`);
});

test("writes need an approval and are never repeated; reads are free", () => {
  const plugin = hubspotPlugin();
  expect(plugin.hosts).toEqual(["api.hubapi.com"]);
  expect(plugin.tools.map(({ name, effect, needsApproval }) => [name, effect, needsApproval])).toEqual([
    ["searchContacts", "none", false],
    ["getContact", "none", false],
    ["createContact", "external", true],
    ["updateContact", "external", true],
    ["searchDeals", "none", false],
    ["getDeal", "none", false],
    ["createDeal", "external", true],
    ["updateDeal", "external", true],
    ["createNote", "external", true],
    ["listNotes", "none", false],
  ]);
});
