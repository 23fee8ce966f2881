// Sends the messages of the outbox until it is killed, or kills itself before it stores that a part was sent.
import { createMessengers } from "../../src/adapters/messengers/index.ts";
import { systemClock } from "../../src/adapters/node/clock.ts";
import type { Database } from "../../src/db/client.ts";
import { createEngine } from "../../src/engine.ts";
import { plainText } from "../plain-text.ts";
import { answeringModel } from "./questions.ts";
import { openPlace, servicesOf } from "./services.ts";

const [, , url = "", telegram = "", moment = ""] = process.argv;
const database = await openPlace(url);

const query: Database["query"] = (text, parameters) => {
  const notes = plainText(text).startsWith("with part as ( update outbox set status");
  if (notes && moment === "noting") process.kill(process.pid, "SIGKILL");
  return database.query<never>(text, parameters);
};

const messengers = createMessengers({ clock: systemClock, bases: { telegram } });
const services = await servicesOf({ ...database, query }, answeringModel());
const engine = createEngine({ ...services, messengers });
// As a server does: without it, a job that takes longer than a lease would be taken over.
setInterval(() => void engine.renewLeases().catch(() => {}), 5_000);
await engine.tick();
setInterval(() => void engine.tick().catch(() => {}), 200);
