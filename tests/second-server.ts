import { serve } from "@hono/node-server";
import { onTestFinished } from "vitest";
import { createEngine } from "../src/engine.ts";
import type { Harness } from "./harness.ts";

/** Serves a second engine on the harness's database, which looks like a second process; answers its address. */
export async function serveAnother({ services }: Pick<Harness, "services">): Promise<string> {
  const { app } = createEngine(services);
  const fetch = (incoming: Request) => app.fetch(incoming, { remoteAddress: "192.0.2.1" });
  const server = serve({ fetch, port: 0, hostname: "127.0.0.1" });
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The server has no port");
  return `http://127.0.0.1:${address.port}`;
}
