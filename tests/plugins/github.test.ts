import { describe, expect, test } from "vitest";
import { githubPlugin } from "../../src/plugins/github/index.ts";
import recorded from "../fixtures/plugins/github.json" with { type: "json" };
import { fakeService } from "./fake-service.ts";

const token = "github_pat_11ABCDEFG0aBcDeFgHiJkL";
const shop = { owner: "acme", repo: "shop" };
const at = "/repos/acme/shop";
const next = { link: '<https://api.github.com/repositories/1296269/issues?page=2>; rel="next", <…>; rel="last"' };

type Answers = Parameters<typeof fakeService>[0]["answers"];

const github = (answers: Answers = {}, secrets: Record<string, string> = { github_token: token }) =>
  fakeService({ plugin: githubPlugin(), secrets, answers });

describe("issues", () => {
  test("a list leaves out pull requests and tells the next page", async () => {
    const service = github({ [`GET ${at}/issues`]: { body: recorded.issues, headers: next } });
    const result = await service.call("listIssues", { ...shop, labels: ["bug", "needs triage"], page: 1, perPage: 3 });
    expect(result).toEqual({
      issues: [
        {
          number: 118,
          title: "Checkout fails with an empty basket",
          state: "open",
          url: "https://github.com/acme/shop/issues/118",
          author: "mona-shop",
          labels: ["bug", "checkout"],
          assignees: ["ada-l"],
          comments: 2,
          createdAt: "2026-11-02T08:15:00Z",
          updatedAt: "2026-11-20T16:40:12Z",
        },
        expect.objectContaining({ number: 117, author: "ada-l", labels: [], assignees: [] }),
      ],
      next: 2,
    });
    expect(service.last()).toEqual({
      url: "https://api.github.com/repos/acme/shop/issues?state=open&labels=bug%2Cneeds+triage&page=1&per_page=3",
      method: "GET",
      headers: {
        accept: "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
        "user-agent": "agent-engine",
        authorization: `Bearer ${token}`,
      },
    });
  });

  test("the last page has no next one", async () => {
    const link = '<https://api.github.com/repositories/1296269/issues?page=1>; rel="prev"';
    const service = github({ [`GET ${at}/issues`]: { body: recorded.issues, headers: { link } } });
    expect(await service.call("listIssues", { ...shop, page: 2 })).toMatchObject({ next: null });
  });

  test("an issue is read with its comments", async () => {
    const service = github({
      [`GET ${at}/issues/118`]: { body: recorded.issue },
      [`GET ${at}/issues/118/comments`]: { body: recorded.comments, headers: next },
    });
    expect(await service.call("getIssue", { ...shop, number: 118, page: 3, perPage: 2 })).toMatchObject({
      type: "issue",
      milestone: "Christmas",
      body: "1. Empty the basket\n2. Press *Pay*\n\nThe page shows `500`.",
      commentCount: 2,
      comments: [
        { author: "ada-l", body: "I can reproduce it.", createdAt: "2026-11-03T09:00:00Z" },
        { author: "acme-bot[bot]", url: "https://github.com/acme/shop/issues/118#issuecomment-1900002" },
      ],
      next: 4,
    });
    expect(service.last().url).toContain("?page=3&per_page=2");
  });

  test("a time is validated", async () => {
    const service = github({ [`GET ${at}/issues`]: { body: [] } });
    await service.call("listIssues", { ...shop, since: "2026-11-23T10:00:00+01:00" });
    expect(new URL(service.last().url).searchParams.get("since")).toBe("2026-11-23T10:00:00+01:00");
    await expect(service.call("listIssues", { ...shop, since: "yesterday" })).rejects.toThrow("since must be a time");
  });

  test("comments that do not exist are not asked for, and a long text is shortened", async () => {
    const issue = { ...recorded.issue, comments: 0, body: "x".repeat(65_536) };
    const service = github({ [`GET ${at}/issues/118`]: { body: issue } });
    const result = await service.call("getIssue", { ...shop, number: 118 });
    expect(result).toMatchObject({ comments: [], next: null });
    expect(result).toHaveProperty("body", `${"x".repeat(20_000)}… (45536 more characters)`);
    expect(service.asked).toHaveLength(1);
  });

  test("an issue is opened, changed and commented on with the given fields only", async () => {
    const service = github({
      [`POST ${at}/issues`]: { status: 201, body: recorded.issue },
      [`PATCH ${at}/issues/118`]: { body: { ...recorded.issue, state: "closed" } },
      [`POST ${at}/issues/118/comments`]: { status: 201, body: recorded.comment },
    });
    const changed = { number: 118, title: recorded.issue.title, url: recorded.issue.html_url };
    expect(await service.call("createIssue", { ...shop, title: "T", labels: ["bug"] })).toEqual({
      ...changed,
      state: "open",
    });
    expect(service.last().json).toEqual({ title: "T", labels: ["bug"] });
    const update = { ...shop, number: 118, state: "closed", stateReason: "not_planned", assignees: [] };
    expect(await service.call("updateIssue", update)).toEqual({ ...changed, state: "closed" });
    expect(service.last().json).toEqual({ state: "closed", assignees: [], state_reason: "not_planned" });
    expect(await service.call("commentOnIssue", { ...shop, number: 118, body: "Done." })).toEqual({
      id: 1900003,
      url: "https://github.com/acme/shop/issues/118#issuecomment-1900003",
    });
    expect(service.last().json).toEqual({ body: "Done." });
  });

  test("a change without a field is refused", async () => {
    const service = github();
    await expect(service.call("updateIssue", { ...shop, number: 118 })).rejects.toThrow("Nothing to change");
    expect(service.asked).toEqual([]);
  });
});

describe("pull requests", () => {
  test("are listed", async () => {
    const service = github({ [`GET ${at}/pulls`]: { body: recorded.pulls } });
    const result = await service.call("listPullRequests", { ...shop, state: "all", head: "acme:fix/empty-basket" });
    expect(result).toEqual({
      pullRequests: [
        {
          number: 116,
          title: "Refuse an empty basket",
          state: "open",
          url: "https://github.com/acme/shop/pull/116",
          author: "acme-bot[bot]",
          labels: ["checkout"],
          assignees: ["ada-l"],
          createdAt: "2026-11-19T10:00:00Z",
          updatedAt: "2026-11-20T17:02:44Z",
          draft: false,
          head: "acme:fix/empty-basket",
          base: "acme:main",
          mergedAt: null,
        },
      ],
      next: null,
    });
    expect(service.last().url).toContain("?state=all&head=acme%3Afix%2Fempty-basket&page=1&per_page=20");
  });

  test("are read with their files, and with patches when asked", async () => {
    const service = github({
      [`GET ${at}/pulls/116`]: { body: recorded.pull },
      [`GET ${at}/pulls/116/files`]: { body: recorded.pullFiles },
    });
    const plain = await service.call("getPullRequest", { ...shop, number: 116 });
    expect(plain).toMatchObject({
      merged: false,
      mergeable: true,
      mergeableState: "clean",
      reviewers: ["mona-shop"],
      changedFiles: 2,
      body: "Closes #118",
      next: null,
    });
    expect(plain).toHaveProperty("files", [
      { path: "src/basket.ts", status: "modified", additions: 12, deletions: 3 },
      { path: "docs/logo.png", status: "added", additions: 2, deletions: 0 },
    ]);
    expect(await service.call("getPullRequest", { ...shop, number: 116, patches: true })).toMatchObject({
      files: [{ patch: expect.stringContaining("EmptyBasket") }, { patch: null }],
    });
  });

  test("are opened", async () => {
    const service = github({ [`POST ${at}/pulls`]: { status: 201, body: recorded.pull } });
    const fields = { title: "Refuse an empty basket", head: "fix/empty-basket", base: "main", draft: true };
    expect(await service.call("createPullRequest", { ...shop, ...fields })).toEqual({
      number: 116,
      title: "Refuse an empty basket",
      state: "open",
      url: "https://github.com/acme/shop/pull/116",
    });
    expect(service.last().json).toEqual(fields);
  });
});

describe("files", () => {
  test("a folder is listed, a page at a time", async () => {
    const many = Array.from({ length: 450 }, (_, n) => ({ path: `docs/${n}.md`, type: "file", size: n }));
    const service = github({
      [`GET ${at}/contents/docs`]: { body: recorded.folder },
      [`GET ${at}/contents/`]: { body: [] },
      [`GET ${at}/contents`]: { body: many },
    });
    expect(await service.call("listFiles", { ...shop, path: "/docs/", ref: "v1/next" })).toEqual({
      entries: [
        { path: "docs/guide.md", type: "file", size: 42 },
        { path: "docs/images", type: "dir", size: 0 },
      ],
      total: 2,
      next: null,
      incomplete: false,
    });
    expect(service.last().url).toBe("https://api.github.com/repos/acme/shop/contents/docs?ref=v1%2Fnext");
    for (const [path, page, length, next] of [["", 1, 200, 2] as const, [".", 3, 50, null] as const]) {
      const result = await service.call("listFiles", { ...shop, path, page });
      expect(result).toMatchObject({ total: 450, next });
      expect(result).toHaveProperty("entries.length", length);
    }
  });

  test("all files below the root or a folder are listed", async () => {
    const folder = { ...recorded.tree, tree: recorded.tree.tree.slice(0, 1) };
    const service = github({
      [`GET ${at}/git/trees/release%2F2`]: { body: recorded.tree },
      [`GET ${at}/contents/docs`]: { body: recorded.folder },
      [`GET ${at}/git/trees/a84d88e7554fc1fa21bcbc4efae3c782a70d2b9d`]: { body: folder },
    });
    const listed = { ...shop, ref: "release/2", recursive: true };
    expect(await service.call("listFiles", listed)).toEqual({
      entries: [
        { path: "README.md", type: "file", size: 132 },
        { path: "docs", type: "dir", size: null },
        { path: "docs/guide.md", type: "file", size: 42 },
        { path: "docs/latest", type: "symlink", size: 8 },
        { path: "docs-old.md", type: "file", size: 9 },
        { path: "vendor/tax", type: "submodule", size: null },
      ],
      total: 6,
      next: null,
      incomplete: false,
    });
    expect(service.last().url).toContain("?recursive=1");
    expect(await service.call("listFiles", { ...listed, path: "docs/images" })).toMatchObject({
      entries: [{ path: "docs/images/README.md", type: "file", size: 132 }],
    });
    expect(service.asked.at(-2)?.url).toContain("/contents/docs?ref=release%2F2");
    const file = service.call("listFiles", { ...listed, path: "docs/guide.md" });
    await expect(file).rejects.toThrow("There is no folder docs/guide.md");
  });

  test("entries GitHub left out of a list are reported", async () => {
    const service = github({
      [`GET ${at}/git/trees/HEAD`]: { body: { ...recorded.tree, truncated: true } },
      [`GET ${at}/contents`]: { body: Array.from({ length: 1_000 }, () => recorded.folder[0] ?? null) },
    });
    expect(await service.call("listFiles", { ...shop, recursive: true })).toMatchObject({ incomplete: true });
    expect(await service.call("listFiles", shop)).toMatchObject({ incomplete: true });
  });

  test("a text is read", async () => {
    const service = github({ [`GET ${at}/contents/docs/guide.md`]: { body: recorded.text } });
    expect(await service.call("getFile", { ...shop, path: "docs/guide.md" })).toEqual({
      path: "docs/guide.md",
      sha: "3d21ec53a331a6f037a91c368710b99387d012c1",
      size: 45,
      url: "https://github.com/acme/shop/blob/main/docs/guide.md",
      binary: false,
      text: "# Guide\n\nPrices are in € – tax included.\n",
      next: null,
    });
  });

  test("a long text is read in pieces that break no character", async () => {
    const text = `${"x".repeat(39_999)}🦊${"y".repeat(41_000)}`;
    const content = Buffer.from(text).toString("base64");
    const service = github({ [`GET ${at}/contents/long.txt`]: { body: { ...recorded.text, content } } });
    const pieces: string[] = [];
    for (let offset: unknown = 0; typeof offset === "number"; ) {
      const { text, next } = Object(await service.call("getFile", { ...shop, path: "long.txt", offset }));
      pieces.push(text);
      offset = next;
    }
    expect(pieces.map((piece) => piece.length)).toEqual([39_999, 40_000, 1_002]);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(pieces.join("")).toBe(text);
    expect(await service.call("getFile", { ...shop, path: "long.txt", offset: 1_000_000 })).toMatchObject({
      text: "",
      next: null,
    });
  });

  test("an unreadable file is refused or described", async () => {
    const service = github({
      [`GET ${at}/contents/docs/logo.png`]: { body: recorded.binary },
      [`GET ${at}/contents/data/prices.csv`]: { body: recorded.large },
      [`GET ${at}/contents/docs`]: { body: recorded.folder },
      [`GET ${at}/contents/vendor/tax`]: { body: recorded.submodule },
      [`GET ${at}/contents/docs/latest`]: { body: recorded.symlink },
      [`GET ${at}/contents/docs/guide.md`]: { body: recorded.text },
    });
    const read = (path: string) => service.call("getFile", { ...shop, path });
    expect(await read("docs/logo.png")).toMatchObject({ binary: true, text: null, next: null });
    await expect(read("data/prices.csv")).rejects.toThrow("data/prices.csv has 4194304 bytes; files up to 1 MB");
    await expect(read("docs")).rejects.toThrow("This is a folder; listFiles lists it");
    await expect(read("vendor/tax")).rejects.toThrow("This is a submodule, of https://github.com/acme/tax.git");
    await expect(read("docs/latest")).rejects.toThrow("This is a symbolic link to ../missing");
    await expect(service.call("listFiles", { ...shop, path: "docs/guide.md" })).rejects.toThrow("This is no folder");
  });

  test("a file is written as base64, with the sha of the file that it replaces", async () => {
    const service = github({ [`PUT ${at}/contents/docs/gu%C3%ADde%3F%23.md`]: { body: recorded.written } });
    const sha = recorded.text.sha;
    const file = { ...shop, path: "docs/guíde?#.md", content: "Prices: 5 €", message: "Correct", branch: "main", sha };
    expect(await service.call("putFile", file)).toEqual({
      path: "docs/guide.md",
      sha: "95b966ae1c166bd92f8ae7d1c313e738c731dfc3",
      url: "https://github.com/acme/shop/blob/main/docs/guide.md",
      commit: "7638417db6d59f3c431d3e1f261cc637155684cd",
      commitUrl: "https://github.com/acme/shop/commit/7638417db6d59f3c431d3e1f261cc637155684cd",
    });
    const content = Buffer.from("Prices: 5 €").toString("base64");
    expect(service.last().json).toEqual({ message: "Correct", content, branch: "main", sha });
    await service.call("putFile", { ...file, content: "iVBORw0KGgo=", encoding: "base64" });
    expect(service.last().json).toMatchObject({ content: "iVBORw0KGgo=" });
  });

  test("a file that is too large or no base64 is refused before a request", async () => {
    const service = github();
    const put = (fields: object) =>
      service.call("putFile", { ...shop, path: "a", message: "m", content: "", ...fields });
    await expect(put({ content: "x".repeat(700_001) })).rejects.toThrow("700001 bytes; at most 700000");
    await expect(put({ content: "x".repeat(1_000_001) })).rejects.toThrow("content must be at most 1000000 characters");
    await expect(put({ content: "a b€", encoding: "base64" })).rejects.toThrow("content is not valid base64");
    await expect(put({ sha: "main" })).rejects.toThrow("sha must be the sha that getFile gave");
    expect(service.asked).toEqual([]);
  });
});

describe("searches", () => {
  test("find issues and pull requests", async () => {
    const service = github({ "GET /search/issues": { body: recorded.foundIssues, headers: next } });
    const query = 'repo:acme/shop "empty basket" c++ & more';
    expect(await service.call("searchIssues", { query, sort: "created", order: "asc", page: 4 })).toMatchObject({
      total: 2,
      incomplete: false,
      items: [
        { type: "issue", repository: "acme/shop", number: 118 },
        { type: "pull request", repository: "acme/shop", number: 116 },
      ],
      next: 5,
    });
    const { searchParams } = new URL(service.last().url);
    expect(Object.fromEntries(searchParams)).toEqual({
      q: query,
      sort: "created",
      order: "asc",
      page: "4",
      per_page: "20",
    });
  });

  test("find code with the matching lines", async () => {
    const service = github({ "GET /search/code": { body: recorded.foundCode } });
    expect(await service.call("searchCode", { query: "EmptyBasket repo:acme/shop" })).toEqual({
      total: 1,
      incomplete: false,
      items: [
        {
          repository: "acme/shop",
          path: "src/basket.ts",
          url: "https://github.com/acme/shop/blob/825ac37/src/basket.ts",
          matches: [expect.stringContaining("throw new EmptyBasket()")],
        },
      ],
      next: null,
    });
    expect(service.last().headers).toMatchObject({ accept: "application/vnd.github.text-match+json" });
  });
});

describe("refusals say how to fix them", () => {
  const { errors } = recorded;
  const reset = String(Date.parse("2026-11-23T10:20:00Z") / 1_000);
  const { primaryLimit } = errors;
  const limited = { ...primaryLimit, headers: { ...primaryLimit.headers, "x-ratelimit-reset": reset } };

  test.each([
    [
      errors.badCredentials,
      "GitHub answered 401: Bad credentials. The token in the secret github_token is wrong or has expired; an administrator must store a new one.",
    ],
    [
      errors.noPermission,
      "GitHub answered 403: Resource not accessible by personal access token. The token in the secret github_token lacks the permission; the call needs issues=write.",
    ],
    [
      errors.noScope,
      "GitHub answered 403: Must have admin rights to Repository. The token in the secret github_token lacks the permission; the call needs one of the scopes repo, public_repo.",
    ],
    [
      limited,
      /^GitHub answered 403: API rate limit exceeded for user ID 583231\..* The rate limit is used up; try again in 1200 seconds \(at 2026-11-23T10:20:00\.000Z\)\.$/,
    ],
    [errors.primaryLimit, /The rate limit is used up; try again in a minute or later\.$/],
    [errors.secondaryLimit, /The rate limit is used up; try again in 60 seconds \(at 2026-11-23T10:01:00\.000Z\)\.$/],
    [
      { status: 429, headers: {}, body: "" },
      "GitHub answered 429. The rate limit is used up; try again in a minute or later.",
    ],
    [
      errors.notFound,
      "GitHub answered 404: Not Found. There is no such thing, or the token in the secret github_token has no right to it.",
    ],
    [errors.issuesOff, "GitHub answered 410: Issues are disabled for this repo."],
    [
      errors.invalid,
      "GitHub answered 422: Validation Failed; A pull request already exists for acme:fix/empty-basket.; PullRequest base invalid.",
    ],
    [errors.noSha, 'GitHub answered 422: Invalid request. "sha" wasn\'t supplied.'],
    [errors.unavailable, "GitHub answered 503. GitHub has trouble now. Try again later."],
    [
      { status: 302, headers: { location: "https://elsewhere.example" }, body: "" },
      "GitHub answered 302. It was moved to another host, which is not asked with the token.",
    ],
    [{ status: 200, headers: {}, body: "<html>" }, "GitHub answered 200 with something that is not JSON"],
    [
      { status: 200, headers: {}, body: `${"[".repeat(101)}${"]".repeat(101)}` },
      "GitHub answered 200 with something that is not JSON",
    ],
  ])("%j", async (answer, message) => {
    const service = github({ [`GET ${at}/issues`]: answer });
    const failure = await service.call("listIssues", shop).then(
      () => "it worked",
      (error: Error) => error.message,
    );
    if (typeof message === "string") expect(failure).toBe(message);
    else expect(failure).toMatch(message);
  });

  test("long words are cut, and control characters are shown", async () => {
    const message = `one\ntwo \u202e\u001b${"x".repeat(1_000)}`;
    const service = github({ [`GET ${at}/issues`]: { status: 400, body: { message } } });
    const error = await service.call("listIssues", shop).catch((error: Error) => error.message);
    expect(error).toMatch(/^GitHub answered 400: one two \\u202e/);
    expect(String(error).length).toBeLessThan(560);
  });

  test("a write without an answer may have been done, a read is harmless", async () => {
    const late = new Error("There was no whole answer within 15 seconds");
    const service = github({
      [`GET ${at}/issues`]: late,
      [`POST ${at}/issues`]: late,
      [`PUT ${at}/contents/a`]: { status: 502, body: "<html>" },
    });
    const create = service.call("createIssue", { ...shop, title: "T" });
    await expect(create).rejects.toThrow(
      new Error(`${late.message}. The change may have been made: look before you try again.`),
    );
    const put = service.call("putFile", { ...shop, path: "a", content: "", message: "m" });
    await expect(put).rejects.toThrow("GitHub answered 502. GitHub has trouble now. The change may have been made");
    await expect(service.call("listIssues", shop)).rejects.toThrow(late);
  });

  test("a missing secret is named before a request", async () => {
    for (const secrets of [{}, { github_token: "  " }]) {
      const service = github({}, secrets);
      await expect(service.call("listIssues", shop)).rejects.toThrow("The secret github_token is not configured");
      expect(service.asked).toEqual([]);
    }
  });
});

describe("the token is sent nowhere else", () => {
  test("a surrounding blank is not sent", async () => {
    const service = github({ [`GET ${at}/issues`]: { body: [] } }, { github_token: `${token}\n` });
    await service.call("listIssues", shop);
    expect(service.last().headers).toMatchObject({ authorization: `Bearer ${token}` });
  });

  test("an answer that repeats it, also where a text is cut, does not show it", async () => {
    const body = `${"x".repeat(19_990)}${token}`;
    const encoded = Buffer.from(`token: ${token}`).toString("base64");
    const broken = Buffer.from(`${"-".repeat(30)}${token}`)
      .toString("base64")
      .replace(/.{60}/g, "$&\n");
    const service = github({
      [`GET ${at}/issues/1`]: { body: { ...recorded.issue, comments: 0, body, title: token } },
      [`GET ${at}/issues/2`]: {
        status: 403,
        body: { message: `${"x".repeat(490)}${token}` },
        headers: { "x-accepted-github-permissions": token },
      },
      [`GET ${at}/contents/a`]: { body: { ...recorded.text, content: encoded } },
      [`GET ${at}/contents/b`]: { body: { ...recorded.text, content: broken } },
    });
    const calls = [
      service.call("getIssue", { ...shop, number: 1 }),
      service.call("getIssue", { ...shop, number: 2 }),
      service.call("getFile", { ...shop, path: "a" }),
      service.call("getFile", { ...shop, path: "b" }),
    ];
    const said = (await Promise.allSettled(calls)).map((one) =>
      JSON.stringify(one.status === "fulfilled" ? one.value : String(one.reason)),
    );
    expect(said.filter((text) => text.includes(token.slice(0, 12)))).toEqual([]);
    expect(said.map((text) => text.includes("[secret]"))).toEqual([true, true, false, true]);
    expect(said[2]).toContain("holds this agent's own token");
  });
});

describe("hostile arguments", () => {
  const badNames = [
    "",
    ".",
    "..",
    "a/b",
    "a\\b",
    "%2e%2e",
    "a?b",
    "a#b",
    "a b",
    "a\u0000",
    "ä",
    "x".repeat(101),
    "a@evil.example",
  ];

  test.each(badNames)("the name %j reaches no request", async (name) => {
    const service = github();
    await expect(service.call("listIssues", { ...shop, owner: name })).rejects.toThrow("owner must be a name");
    await expect(service.call("getFile", { ...shop, repo: name, path: "a" })).rejects.toThrow("repo must be a name");
    expect(service.asked).toEqual([]);
  });

  test.each([
    "..",
    "../x",
    "a/../../user",
    "a//b",
    "a/./b",
    "//evil.example",
    "a/..",
    "../",
    "a\u0000b",
    "\ud800",
    "",
    "/",
  ])("the path %j reaches no request", async (path) => {
    const service = github();
    await expect(service.call("getFile", { ...shop, path })).rejects.toThrow("path must");
    await expect(service.call("putFile", { ...shop, path, content: "", message: "m" })).rejects.toThrow("path must");
    expect(service.asked).toEqual([]);
  });

  test.each([
    ["..%2f..%2fuser", "..%252f..%252fuser"],
    ["%2e%2e/user", "%252e%252e/user"],
    ["a\\..\\b", "a%5C..%5Cb"],
    ["a?ref=x#y", "a%3Fref%3Dx%23y"],
    ["a;b:c@d", "a%3Bb%3Ac%40d"],
    [".../x", ".../x"],
    ["./docs/a b", "docs/a%20b"],
  ])("the path %j stays one below the repository", async (path, encoded) => {
    const service = github();
    await expect(service.call("getFile", { ...shop, path })).rejects.toThrow("404");
    expect(new URL(service.last().url).pathname).toBe(`${at}/contents/${encoded}`);
  });

  test.each([
    0,
    -1,
    1.5,
    2 ** 53,
    "1",
    "../1",
    null,
    [1],
    Number.NaN,
  ])("the number %j reaches no request", async (number) => {
    const service = github();
    await expect(service.call("getIssue", { ...shop, number })).rejects.toThrow("The arguments are not valid: number ");
    expect(service.asked).toEqual([]);
  });

  test("refs and queries stay in their places", async () => {
    const service = github();
    await expect(service.call("getFile", { ...shop, path: "a", ref: "x&y=1#z/.." })).rejects.toThrow("404");
    expect(service.last().url).toBe("https://api.github.com/repos/acme/shop/contents/a?ref=x%26y%3D1%23z%2F..");
    await expect(service.call("listFiles", { ...shop, recursive: true, ref: ".." })).rejects.toThrow(
      "cannot be a part",
    );
    await expect(service.call("listFiles", { ...shop, recursive: true, ref: "../../user" })).rejects.toThrow("404");
    expect(new URL(service.last().url).pathname).toBe(`${at}/git/trees/..%2F..%2Fuser`);
    await expect(service.call("listIssues", { ...shop, assignee: "a&per_page=9" })).rejects.toThrow("404");
    expect(new URL(service.last().url).searchParams.get("per_page")).toBe("20");
  });
});

test("a GitHub Enterprise Server is asked below its path, and no other path is possible", async () => {
  const plugin = githubPlugin({ baseUrl: "https://git.acme.example:8443/api/v3/" });
  expect(plugin.hosts).toEqual(["git.acme.example:8443"]);
  const answers = { "GET /api/v3/repos/acme/shop/issues": { body: [] } };
  const service = fakeService({ plugin, secrets: { github_token: token }, answers });
  expect(await service.call("listIssues", shop)).toEqual({ issues: [], next: null });
  expect(githubPlugin().hosts).toEqual(["api.github.com"]);
});

test("writes need an approval and are never repeated; reads are free", () => {
  const writes = githubPlugin().tools.filter((tool) => tool.needsApproval);
  expect(writes.map((tool) => tool.name)).toEqual([
    "createIssue",
    "updateIssue",
    "commentOnIssue",
    "createPullRequest",
    "putFile",
  ]);
  for (const { needsApproval, effect, parameters } of githubPlugin().tools) {
    expect(effect).toBe(needsApproval ? "external" : "none");
    expect(parameters).toMatchObject({ type: "object" });
  }
  expect(githubPlugin().tools.map((tool) => tool.name)).toEqual([
    ...["listIssues", "getIssue", "createIssue", "updateIssue", "commentOnIssue"],
    ...["listPullRequests", "getPullRequest", "createPullRequest", "listFiles", "getFile", "putFile"],
    ...["searchIssues", "searchCode"],
  ]);
});
