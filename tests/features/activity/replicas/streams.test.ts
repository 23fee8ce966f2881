import { expect, onTestFinished, test } from "vitest";
import { ActivityBus } from "../../../../src/core/activity/bus.ts";
import { localNotify } from "../../../../src/core/notify.ts";
import { createEngine } from "../../../../src/engine.ts";
import { collectLog } from "../../../embedded.ts";
import { activityHarness, follow } from "../following.ts";

test("a stream of one replica shows what happens on another, to whom it concerns, with its stored rows", async () => {
  const h = await activityHarness();
  const agent = await h.actor();
  const { ref, query } = await h.talk(agent);
  const owner = await h.as("owner");
  const stranger = await h.as("owner", { organization: await h.createOrganization("other") });
  h.tell(agent, "before", ref);
  const replica = createEngine({ ...h.services, activity: new ActivityBus(h.services) });
  onTestFinished(() => replica.stop(0));
  const streamOf = (path: string, headers: Record<string, string>) =>
    follow({ request: async (to, init) => replica.app.request(to, init) }, `/api/activity-stream/${path}`, headers);
  const [live, conversation] = [await streamOf("live", owner), await streamOf(`conversation?${query}`, owner)];
  const foreign = await streamOf("live", stranger);
  h.tell(agent, "now", ref);
  h.services.activity.persisted({ agent, conversationId: ref, messageId: "m" });
  await h.clock.advance(50);
  expect(await live.heard()).toEqual(["before", "now"]);
  expect((await conversation.events()).map(({ data }) => data.text ?? data.messageId)).toEqual(["before", "now", "m"]);
  expect(await foreign.events()).toEqual([]);
});

test("a process that has the database for itself tells no other", async () => {
  const notify = localNotify(collectLog().log);
  const told: string[] = [];
  notify.listen("activity", (text) => void told.push(text));
  const h = await activityHarness({ notify, soleProcess: true });
  await h.live(await h.as("owner"));
  h.tell(await h.actor(), "now");
  await h.clock.advance(60_000);
  expect(told).toEqual([]);
});
