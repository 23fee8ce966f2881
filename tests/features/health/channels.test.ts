import { expect, test } from "vitest";
import { eventually } from "../chat/chat.ts";
import { adaTarget, messaging } from "../inbox/sending.ts";

const hourMs = 3_600_000;
const blocked = "Telegram refused sendMessage (403): Forbidden: bot was blocked by the user";

type Messaging = Awaited<ReturnType<typeof messaging>>;

async function read(h: Messaging, path: string): Promise<Record<string, unknown>> {
  const answer = await h.request(path, { headers: h.agent.headers });
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as Record<string, unknown>;
}

async function healthOf(h: Messaging, name: string) {
  const { checks } = (await read(h, "/api/installation/health")) as { checks: { name: string; message: string }[] };
  return checks.flatMap((check) => (check.name === name ? [check.message] : [])).join();
}

const agentOf = async (h: Messaging) =>
  ((await read(h, "/api/instances")).instances as { slug: string; failingChannels: unknown }[])[0];

test("a channel that its messenger refuses is named by Health and the agents' list, with its age", async () => {
  const h = await messaging();
  expect(await healthOf(h, "channels")).toBe("No messenger refuses one");
  expect(await agentOf(h)).toMatchObject({ slug: "support", failingChannels: [] });
  await h.turnOn(h.agent.id, "telegram", { botToken: `${1}:${"A".repeat(30)}` });
  await h.say("Hi");
  await h.settled(([row]) => row?.status === "failed");
  await h.channel();
  const since = new Date(h.clock.now()).toISOString();
  await h.later(2 * hourMs);
  // A later failure of the same kind.
  await h.say("Hi again");
  await h.settled(([, row]) => row?.status === "failed");
  await h.channel();
  expect(await healthOf(h, "channels")).toMatch(
    /^Failing: telegram of support for 2 hours \(Telegram does not know the bot token/,
  );
  expect(await agentOf(h)).toMatchObject({ failingChannels: [{ channelType: "telegram", since }] });
  await h.turnOn(h.agent.id, "telegram");
  await h.say("Now");
  await h.settled((all) => all.at(-1)?.status === "sent");
  await h.channel();
  expect(await healthOf(h, "channels")).toBe("No messenger refuses one");
});

test("a delivery that the messenger refuses shows in run, task, channel and Health, until a retry delivers it", async () => {
  const h = await messaging();
  h.telegram.fail("sendMessage", {
    status: 403,
    json: { ok: false, error_code: 403, description: "Forbidden: bot was blocked by the user" },
  });
  const tasks = "/api/instances/support/scheduled-tasks";
  const post = (path: string, json: unknown) =>
    h.request(path, { method: "POST", headers: h.agent.headers, json }).then((answer) => answer.json());
  const schedule = { type: "interval", everyMs: hourMs };
  const place = { outboundChannel: "telegram", outboundTarget: adaTarget };
  const { id } = (await post(tasks, { name: "Report", prompt: "Report now", schedule, ...place })) as { id: string };
  await post(`${tasks}/${id}/run`, {});
  const [row] = await h.settled(([part]) => part?.status === "failed");
  const error = `Not delivered on telegram: ${blocked}`;
  await eventually(async () => {
    const { runs } = (await read(h, `${tasks}/${id}/runs`)) as { runs: { status: string }[] };
    return runs[0]?.status === "completed";
  });
  expect(await read(h, `${tasks}/${id}/runs`)).toMatchObject({ runs: [{ status: "completed", error }] });
  expect(await read(h, `${tasks}/${id}`)).toMatchObject({ lastRun: { status: "completed", error } });
  expect(await read(h, tasks)).toMatchObject({ scheduledTasks: [{ lastRun: { error } }] });
  expect(await h.channel()).toMatchObject({ status: "running", lastError: blocked });
  expect(await healthOf(h, "channels")).toContain(
    `Not delivered lately: telegram of support since a moment ago (${blocked})`,
  );
  expect(await healthOf(h, "messages")).toContain(
    `1 message could not be sent (the last one on telegram of support: ${blocked})`,
  );
  await post(`/api/instances/support/channels/telegram/messages/${row?.id}/retry`, {});
  await h.allSent();
  expect(await read(h, `${tasks}/${id}/runs`)).toMatchObject({ runs: [{ status: "completed", error: null }] });
  expect(await read(h, `${tasks}/${id}`)).toMatchObject({ lastRun: { status: "completed", error: null } });
});
