import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, workspaces } from "../../../src/db/schema.ts";
import { activityHarness, follow, pause } from "./following.ts";

test("the live stream begins as decisions §10 says, replays, sends new events, and keeps quiet streams alive", async () => {
  const h = await activityHarness();
  const [agent, owner] = [await h.actor(), await h.as("owner")];
  h.tell(agent, "before", "c");
  const { response, text, events } = await h.live(owner);
  h.tell(agent, "now");
  expect(response.headers.get("Content-Type")).toBe("text/event-stream; charset=utf-8");
  const [before, now] = await events();
  expect(text()).toMatch(/^: connected\n\nid: \d+\ndata: \{/);
  expect(before).toMatchObject({ event: "", data: { text: "before", kind: "inbound", conversationId: "c" } });
  expect(before?.data.instance).toEqual({ id: agent.id, slug: agent.slug, name: "Helper", icon: null });
  expect(now?.data.text).toBe("now");
  expect(Number(now?.id)).toBe(Number(before?.id) + 1);
  await h.clock.advance(25_000);
  await pause();
  expect(text()).toMatch(/now.*\n\n: ping\n\n$/s);
});

test("on replay and live, no agent of another organization or of an unreachable workspace is shown", async () => {
  const h = await activityHarness();
  const other = await h.createOrganization("other");
  const hidden = { ...h.organization, workspaceId: newId() };
  await h.db.insert(workspaces).values({ id: hidden.workspaceId, organizationId: hidden.id, name: "hidden" });
  const [own, foreign, away] = [await h.actor(), await h.actor(other), await h.actor(hidden)];
  const tellAll = (when: string) => {
    h.tell(own, `own ${when}`);
    h.tell(foreign, `foreign ${when}`);
    h.tell(away, `away ${when}`);
  };
  const callers = {
    owner: { headers: await h.as("owner"), sees: ["own", "away"] },
    member: { headers: await h.as("member"), sees: ["own"] },
    stranded: { headers: await h.as("viewer", { reach: false }), sees: [] },
    neighbour: { headers: await h.as("owner", { organization: other }), sees: ["foreign"] },
  };
  tellAll("before");
  const streams = await Promise.all(
    Object.values(callers).map(async ({ headers, sees }) => ({ sees, stream: await h.live(headers) })),
  );
  tellAll("now");
  for (const { sees, stream } of streams) {
    expect(await stream.heard()).toEqual(["before", "now"].flatMap((when) => sees.map((who) => `${who} ${when}`)));
  }
});

test("the events of an agent are not replayed once it was deleted or moved out of reach", async () => {
  const h = await activityHarness();
  const annex = newId();
  await h.db.insert(workspaces).values({ id: annex, organizationId: h.organization.id, name: "annex" });
  const [stays, goes, moves] = [await h.actor(), await h.actor(), await h.actor()];
  for (const agent of [stays, goes, moves]) h.tell(agent, agent.slug);
  await h.db.delete(agents).where(eq(agents.id, goes.id));
  await h.move(moves.id, annex);
  expect(await (await h.live(await h.as("member"))).heard()).toEqual([stays.slug]);
  expect(await (await h.live(await h.as("owner"))).heard()).toEqual([stays.slug, moves.slug]);
});

test("the events of a conversation are not replayed once that is deleted", async () => {
  const h = await activityHarness();
  const agent = await h.actor();
  const [stays, goes] = [await h.talk(agent), await h.talk(agent)];
  h.tell(agent, "stays", stays.ref);
  h.tell(agent, "goes", goes.ref);
  h.tell(agent, "of none");
  const owner = await h.as("owner");
  expect((await h.request(`/api/conversations/${goes.ref}`, { method: "DELETE", headers: owner })).status).toBe(200);
  expect(await (await h.live(owner)).heard()).toEqual(["stays", "of none"]);
});

test("`instance` narrows the stream to one agent; one out of reach is not there", async () => {
  const h = await activityHarness();
  const [one, two, owner] = [await h.actor(), await h.actor(), await h.as("owner")];
  const foreign = await h.actor(await h.createOrganization("other"));
  h.tell(two, "two");
  h.tell(one, "one");
  const { heard } = await h.live(owner, `?instance=${one.slug}`);
  h.tell(two, "two");
  h.tell(one, "one");
  expect(await heard()).toEqual(["one", "one"]);
  for (const slug of [foreign.slug, "nowhere", ""]) {
    expect((await h.live(owner, `?instance=${slug}`)).status, slug).toBe(404);
  }
});

test("the conversation stream shows one conversation, and tells of its stored rows", async () => {
  const h = await activityHarness();
  const [agent, viewer] = [await h.actor(), await h.as("viewer")];
  const [mine, another] = [await h.talk(agent), await h.talk(agent)];
  h.tell(agent, "before", mine.ref);
  h.tell(agent, "elsewhere", another.ref);
  const { events } = await h.conversation(viewer, mine.query);
  const live = await h.live(viewer);
  h.tell(agent, "now", mine.ref);
  h.services.activity.persisted({ agent, conversationId: mine.ref, messageId: "m" });
  h.services.activity.persisted({ agent, conversationId: another.ref, messageId: "other" });
  h.services.activity.persisted({ agent, conversationId: mine.ref, hookExecutionId: "h" });
  const told = await events();
  expect(told.map(({ data }) => data.text).filter(Boolean)).toEqual(["before", "now"]);
  expect(told.filter(({ event }) => event === "persisted")).toEqual([
    { id: "", event: "persisted", data: { messageId: "m" } },
    { id: "", event: "persisted", data: { hookExecutionId: "h" } },
  ]);
  expect((await live.events()).every(({ event }) => event === "")).toBe(true);
});

test("the stream of all conversations tells of the stored rows within reach, with their conversations", async () => {
  const h = await activityHarness();
  const annex = newId();
  await h.db.insert(workspaces).values({ id: annex, organizationId: h.organization.id, name: "annex" });
  const [near, far] = [await h.actor(), await h.actor({ ...h.organization, workspaceId: annex })];
  const foreign = await h.actor(await h.createOrganization("other"));
  const talks = await Promise.all([near, far, foreign].map(async (agent) => ({ agent, ...(await h.talk(agent)) })));
  h.tell(near, "before");
  const path = "/api/activity-stream/conversations";
  const streams = [await follow(h, path, await h.as("viewer")), await follow(h, path, await h.as("owner"))];
  for (const { agent, ref } of talks)
    h.services.activity.persisted({ agent, conversationId: ref, messageId: agent.slug });
  for (const [index, { events, status }] of streams.entries()) {
    expect(status).toBe(200);
    const told = await events();
    expect(told.map(({ data }) => data.text).filter(Boolean)).toEqual(["before"]);
    expect(told.filter(({ event }) => event === "persisted").map(({ data }) => data)).toEqual(
      talks.slice(0, index + 1).map(({ agent, ref }) => ({ conversationId: ref, messageId: agent.slug })),
    );
  }
});

test("a conversation that is missing, foreign, out of reach or of another agent is one and the same 404", async () => {
  const h = await activityHarness();
  const [agent, sibling, owner] = [await h.actor(), await h.actor(), await h.as("owner")];
  const foreign = await h.actor(await h.createOrganization("other"));
  const [mine, theirs] = [await h.talk(agent), await h.talk(foreign)];
  const query = (conversationId: string, instanceId: string) =>
    new URLSearchParams({ conversationId, instanceId }).toString();
  const wrong = [
    theirs.query,
    query(mine.ref, sibling.slug),
    query(mine.ref, foreign.slug),
    query(theirs.ref, agent.slug),
    query("nowhere", agent.slug),
    query("\u0000", agent.slug),
  ];
  const bodies = new Set<string>();
  for (const one of wrong) {
    const { status, ended, text } = await h.conversation(owner, one);
    expect(status).toBe(404);
    await ended;
    bodies.add(text());
  }
  expect(bodies.size).toBe(1);
  expect((await h.conversation(await h.as("member", { reach: false }), mine.query)).status).toBe(404);
  const missing = { conversationId: mine.ref, instanceId: agent.slug };
  for (const name of Object.keys(missing)) {
    const rest = Object.entries(missing).filter(([key]) => key !== name);
    expect((await h.conversation(owner, new URLSearchParams(rest).toString())).status).toBe(400);
  }
  expect((await h.conversation(owner, "")).status).toBe(400);
});

test("a reader that reconnects with `Last-Event-ID` gets the events it missed", async () => {
  const h = await activityHarness();
  const [agent, owner] = [await h.actor(), await h.as("owner")];
  h.tell(agent, "one");
  h.tell(agent, "two");
  const first = await h.live(owner);
  const [one] = await first.events();
  first.leave();
  h.tell(agent, "three");
  const again = (id: string) => h.live({ ...owner, "Last-Event-ID": id });
  expect(await (await again(one?.id ?? "")).heard()).toEqual(["two", "three"]);
  for (const odd of ["1", "-1", "x", "99999999999999999999", `${Number(one?.id) + 1_000}`]) {
    expect(await (await again(odd)).heard(), odd).toEqual(["one", "two", "three"]);
  }
});

test("a client that reads nothing loses the oldest events, and gets a notice", async () => {
  const h = await activityHarness();
  const [agent, owner] = [await h.actor(), await h.as("owner")];
  const response = await h.request("/api/activity-stream/live", { headers: owner });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  await reader?.read();
  for (let n = 1; n <= 250; n += 1) h.tell(agent, `event ${n}`);
  await pause();
  let text = "";
  while (!text.includes('"event 250"')) text += (await reader?.read())?.value;
  const heard = [...text.matchAll(/"text":"event (\d+)"/g)].map(([, n]) => Number(n));
  const lost = Number(/^: (\d+) older events were left out/m.exec(text)?.[1]);
  expect(lost).toBeGreaterThanOrEqual(40);
  expect(heard).toHaveLength(250 - lost);
  expect(heard.at(-1)).toBe(250);
  expect(heard.toSorted((one, other) => one - other)).toEqual(heard);
});

test("a stop ends the streams, and no more are opened", async () => {
  const h = await activityHarness();
  const owner = await h.as("owner");
  const { ended } = await h.live(owner);
  await h.engine.stop(0);
  await ended;
  const { status, response } = await h.live(owner);
  expect([status, response.headers.get("Retry-After")]).toEqual([503, "60"]);
});

test("neither HEAD nor many calls take a connection, and calls don't count for the rate limit", async () => {
  const h = await activityHarness();
  const owner = await h.as("owner");
  h.services.policies.set({ ...h.services.policies.values, rateLimit: { limit: 10, windowSeconds: 3_600 } });
  for (let n = 0; n < 30; n += 1) {
    const { status } = await h.request("/api/activity-stream/live", { method: "HEAD", headers: owner });
    expect(status).toBe(200);
  }
  expect((await h.live(owner)).status).toBe(200);
  expect((await h.request("/api/me", { headers: owner })).status).toBe(200);
  const unknown = { Authorization: `Bearer ses_${"x".repeat(43)}` };
  const statuses = [];
  for (let n = 0; n < 12; n += 1)
    statuses.push((await h.request("/api/activity-stream/live", { headers: unknown })).status);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  expect(await h.db.select().from(conversations)).toEqual([]);
});
