import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import { listen } from "../../../src/adapters/node/server.ts";
import { openStorage } from "../../../src/adapters/node/storage.ts";
import type { Activity } from "../../../src/core/activity/activity.ts";
import { ActivityBus } from "../../../src/core/activity/bus.ts";
import { ActivityEvent } from "../../../src/core/activity/event.ts";
import { parseSettings } from "../../../src/core/config.ts";
import { passwords } from "../../../src/core/credentials/password.ts";
import { newId } from "../../../src/core/ids.ts";
import { createEngine } from "../../../src/engine.ts";
import { servicesOf } from "../../crash/services.ts";
import { silent } from "../../embedded.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { announce } from "../processes.ts";

// The app with a bus for invented events, and a floor that writes the same bytes to its clients:
// `/emit/<times>/<each>/<pauseMs>` emits events that hold their time, `/floor/…` has the floor write them, `/cost`
// answers the CPU-nanoseconds of an emit without subscribers, `/` the addresses of the app and the floor.

const { database } = await openStorage(parseSettings(process.env), { clock: systemClock, log: silent });
const made = await servicesOf(
  database,
  scriptedModel(() => reply("Hi.")),
);
const services = { ...made, passwords, options: { ...made.options, soleProcess: true } };
const engine = createEngine(services);
await engine.boot({ owner: { email: process.env.OWNER_EMAIL ?? "", password: process.env.OWNER_PASSWORD ?? "" } });
services.policies.set({ ...services.policies.values, activityConnections: { total: 10_000, perUser: 10_000 } });
const app = await listen("127.0.0.1", 0);
app.serve(engine.app);

const [organization] = await database.query<{ id: string; workspace: string }>(
  `select organizations.id, workspaces.id as workspace from organizations
   join workspaces on workspaces.organization_id = organizations.id`,
  [],
);
const agent = {
  id: newId(),
  slug: "support",
  name: "Support",
  iconVersion: null,
  organizationId: organization?.id ?? "",
  workspaceId: organization?.workspace ?? "",
};
const preview = JSON.stringify({ order: 4711, state: "sent", items: ["teapot", "cup", "cup"] }).repeat(4);

const event = (text: string): Activity => ({
  kind: "tool-end",
  id: "call_1:end",
  text,
  agent,
  conversationId: "support:web:ticket-42",
  tool: "httpRequest",
  status: "ok",
  resultPreview: preview,
  durationMs: 180,
});

const audience = new Set<ServerResponse>();
const floor = createServer((_, response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
  audience.add(response.on("close", () => audience.delete(response)));
});
await new Promise<void>((resolve) => floor.listen(0, "127.0.0.1", resolve));
const floorAddress = floor.address();
const floorPort = typeof floorAddress === "object" ? floorAddress?.port : undefined;

function writeToAll(activity: Activity): void {
  const { id, organizationId, workspaceId } = agent;
  const { text } = new ActivityEvent(
    activity,
    Date.now(),
    { id, organizationId, workspaceId },
    activity.conversationId,
  );
  for (const response of audience) response.write(text);
}

async function tell(how: (activity: Activity) => void, [times = 0, each = 0, pauseMs = 0]: number[]): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    for (let n = 0; n < each; n += 1) how(event(`at ${performance.timeOrigin + performance.now()}`));
    await sleep(pauseMs);
  }
}

/** The median of ten rounds. */
function cost(): number {
  const bus = new ActivityBus({ clock: systemClock, log: silent });
  const unheard = event("Nobody hears it");
  const rounds = Array.from({ length: 11 }, () => {
    const before = process.cpuUsage();
    for (let n = 0; n < 100_000; n += 1) bus.emit(unheard);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 100;
  });
  return rounds.slice(1).sort((one, other) => one - other)[5] ?? Number.NaN;
}

announce(
  createServer(async ({ url = "" }, response) => {
    const [, what, ...numbers] = url.split("/");
    if (what === "emit") await tell((activity) => services.activity.emit(activity), numbers.map(Number));
    if (what === "floor") await tell(writeToAll, numbers.map(Number));
    response.end(JSON.stringify(what === "cost" ? cost() : [app.port, floorPort]));
  }),
);
