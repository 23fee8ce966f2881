import { describe, expect, test } from "vitest";
import { type Permission, permissions, type RoleKey, roles } from "../../src/core/credentials/permissions.ts";
import {
  exceeding,
  lacked,
  type Rights,
  rightsOf,
  rightsOfRole,
  sameReach,
  sameRights,
} from "../../src/core/credentials/rights.ts";
import { editionOf, openEdition } from "../../src/core/edition.ts";

const keys = Object.keys(roles) as RoleKey[];
const added = "018f0000-0000-7000-8000-000000000001,018f0000-0000-7000-8000-000000000002";
const closedEditions = [editionOf({ EDITION: "managed", FEATURES: ["channels"] })];
const open = { isPlatformAdmin: false, governed: false, narrowedTo: null, customRole: null };
const rights = (role: string | null, first = false, workspaceIds: string | null = added) =>
  rightsOf({ role, workspaceIds, ...open }, { first, edition: openEdition });

describe("the rights of a role", () => {
  test.each(keys)("are all permissions of %s in the first organization, and all but policy:manage elsewhere", (key) => {
    const known = [...roles[key]].filter((one) => one !== "org.role:manage");
    expect([...rights(key, true).permissions]).toEqual(known);
    expect([...rights(key, false).permissions]).toEqual(known.filter((one) => one !== "policy:manage"));
  });

  test("include policy:manage for Owners of the first organization alone", () => {
    const holders = [true, false].flatMap((first) =>
      keys.filter((key) => rights(key, first).permissions.has("policy:manage")).map((key) => [key, first]),
    );
    expect(holders).toEqual([["owner", true]]);
  });

  test.each([
    ["owner", null],
    ["admin", null],
    ["member", added.split(",")],
    ["viewer", added.split(",")],
  ] as const)("of %s reach the workspaces %j", (key, reached) => {
    expect(rights(key).workspaceIds).toEqual(reached);
    expect(rights(key, false, null).workspaceIds).toEqual(reached && []);
  });

  test.each(["guest", "Owner", "constructor", "__proto__", "", null])("are none for %j", (role) => {
    for (const first of [true, false]) {
      expect([...rights(role, first).permissions]).toEqual([]);
      expect(rights(role, first).workspaceIds).not.toBeNull();
    }
  });

  test("leave the roles as they are", () => {
    const { permissions: mine } = rights("owner", true);
    (mine as Set<Permission>).delete("org:write");
    expect(roles.owner.has("org:write")).toBe(true);
  });
});

describe("a Platform Admin", () => {
  const admin = { ...open, workspaceIds: null, isPlatformAdmin: true, governed: true };
  const closed = [openEdition, ...closedEditions];
  const administration = editionOf({ EDITION: "managed", FEATURES: ["administration"] });

  test.each([...keys, "guest", null])("has all permissions everywhere, also as %j", (role) => {
    for (const first of [true, false]) {
      const held = rightsOf({ ...admin, role }, { first, edition: administration });
      expect(held).toEqual({ permissions: new Set(permissions), workspaceIds: null, everywhere: true });
    }
  });

  test.each(
    closed,
  )("has only policy:manage in the first organization besides the role without the feature: %j", (edition) => {
    for (const role of [...keys, null]) {
      for (const first of [true, false]) {
        const { everywhere, ...held } = rightsOf({ ...admin, role }, { first, edition });
        const ofRole = rightsOf({ ...open, role, workspaceIds: null }, { first: false, edition });
        const wanted = new Set([...ofRole.permissions, ...(first ? (["policy:manage"] as const) : [])]);
        expect(held).toEqual({ permissions: wanted, workspaceIds: ofRole.workspaceIds });
        expect(everywhere).toBe(false);
      }
    }
  });

  test("leaves policy:manage to nobody else, in any edition", () => {
    const governed = { ...open, workspaceIds: null, governed: true };
    for (const edition of [...closed, administration]) {
      const { permissions: held } = rightsOf({ ...governed, role: "owner" }, { first: true, edition });
      const lost = edition.managed ? ["policy:manage"] : ["policy:manage", "org.role:manage"];
      expect([...held]).toEqual([...roles.owner].filter((one) => !lost.includes(one)));
    }
  });
});

describe("a custom role", () => {
  const managed = editionOf({ EDITION: "managed", FEATURES: ["administration"] });
  const customRole = { permissions: ["org:read", "agent:read", "agent:fly", "org:write"], allWorkspaces: false };
  const of = (role: string, changes: object = {}, edition = managed) =>
    rightsOf(
      { ...open, role, workspaceIds: added, customRole: { ...customRole, ...changes } },
      { first: true, edition },
    );

  test("has its known permissions in every edition, without those that no custom role has", () => {
    for (const edition of [managed, openEdition, ...closedEditions]) {
      expect([...of("auditor", {}, edition).permissions]).toEqual(["agent:read", "org:read"]);
    }
    const all = of("auditor", { permissions: [...permissions] }).permissions;
    expect(permissions.filter((one) => !all.has(one)).sort()).toEqual([
      ...["org.key:manage", "org.role:manage", "org:write", "policy:manage"],
    ]);
  });

  test("reaches the workspaces that its holder was added to, or all", () => {
    expect(of("auditor").workspaceIds).toEqual(added.split(","));
    expect(of("auditor", { allWorkspaces: true }).workspaceIds).toBeNull();
  });

  test("never takes the place of a built-in one", () => {
    expect(of("viewer", { allWorkspaces: true })).toEqual(of("viewer"));
    expect([...of("viewer").permissions]).toEqual([...roles.viewer]);
  });

  test("is known to its organization alone", () => {
    expect(rightsOfRole("auditor", null, managed)).toBeNull();
    expect(rightsOfRole("auditor", customRole, managed)?.permissions).toEqual(new Set(["agent:read", "org:read"]));
    expect(rightsOfRole("owner", null, managed)?.permissions.has("policy:manage")).toBe(false);
  });

  test("exceeds one without a permission of it, or without its reach", () => {
    expect(exceeding(of("auditor"), of("auditor"))).toBeUndefined();
    expect(exceeding(of("auditor"), of("x", { permissions: ["org:read"] }))).toBe("agent:read");
    expect(exceeding(of("auditor", { allWorkspaces: true }), of("auditor"))).toBe("access to every workspace");
    expect(exceeding(of("auditor"), of("auditor", { allWorkspaces: true }))).toBeUndefined();
  });
});

describe("a narrowed token", () => {
  const narrowedTo = "agent:read,org:write,unknown,policy:manage";

  test("has those permissions of its holder's role that it names", () => {
    const of = (role: string) => rightsOf({ ...open, role, workspaceIds: added, narrowedTo }, place).permissions;
    const place = { first: false, edition: openEdition };
    expect([...of("owner")]).toEqual(["agent:read", "org:write"]);
    expect([...of("viewer")]).toEqual(["agent:read"]);
    expect([...of("guest")]).toEqual([]);
    expect([...rightsOf({ ...open, role: "owner", workspaceIds: null, narrowedTo: "" }, place).permissions]).toEqual(
      [],
    );
  });

  test("of a Platform Admin reaches every organization, with those permissions alone", () => {
    const edition = editionOf({ EDITION: "managed", FEATURES: ["administration"] });
    const standing = { ...open, role: null, workspaceIds: null, isPlatformAdmin: true, governed: true, narrowedTo };
    expect(rightsOf(standing, { first: false, edition })).toEqual({
      permissions: new Set(["agent:read", "org:write", "policy:manage"]),
      workspaceIds: null,
      everywhere: true,
    });
  });
});

describe("a permission that is lacked", () => {
  test("is there exactly where the other role is the higher one", () => {
    const order: RoleKey[] = ["viewer", "member", "admin", "owner"];
    for (const [rank, theirs] of order.entries()) {
      for (const [own, mine] of order.entries()) {
        const found = lacked(rights(theirs).permissions, rights(mine).permissions);
        expect(found !== undefined, `${theirs}, ${mine}`).toBe(rank > own);
        if (found) expect([roles[theirs].has(found), roles[mine].has(found)]).toEqual([true, false]);
      }
    }
  });

  test("is there in both directions for roles of which neither holds the other's", () => {
    const [readers, writers] = [new Set<Permission>(["agent:read"]), new Set<Permission>(["agent:write"])];
    expect([lacked(readers, writers), lacked(writers, readers)]).toEqual(["agent:read", "agent:write"]);
    expect(lacked(new Set(), readers)).toBeUndefined();
    expect(lacked(new Set(permissions), new Set(permissions))).toBeUndefined();
  });
});

describe("two rights", () => {
  test("are the same only with the same permissions and workspaces", () => {
    const all: [string, Rights][] = [
      ...keys.map((key) => [key, rights(key)] as [string, Rights]),
      ["first Owner", rights("owner", true)],
      ["Platform Admin", { ...rights("owner", true), everywhere: true }],
      ["member of one workspace", rights("member", false, added.split(",")[0])],
      ["member of none", rights("member", false, null)],
      ["nobody", rights(null)],
    ];
    for (const [one, a] of all)
      for (const [other, b] of all) expect(sameRights(a, b), `${one}, ${other}`).toBe(one === other);
  });

  test("reach the same with another role, as an Owner and an Admin do", () => {
    expect(sameReach(rights("owner"), rights("admin"))).toBe(true);
    expect(sameReach(rights("member"), rights("viewer"))).toBe(true);
    expect(sameReach(rights("admin"), rights("member", false, null))).toBe(false);
    expect(sameReach(rights("member", false, null), rights("member"))).toBe(false);
  });

  test("of roles without permissions are the same: a role that became another unknown one changed nothing", () => {
    expect(sameRights(rights("guest"), rights("stranger"))).toBe(true);
  });
});
