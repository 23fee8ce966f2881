import { OpenAPIHono } from "@hono/zod-openapi";
import type { Services } from "./context/ctx.ts";
import type { Edition } from "./core/edition.ts";
import { EngineError } from "./core/errors.ts";
import { refuseImpersonatedWrites } from "./http/callers/impersonation.ts";
import type { AppEnv } from "./http/environment.ts";
import { onError } from "./http/errors.ts";
import type { Opening } from "./http/opening.ts";
import { docsRoutes } from "./http/pages/docs.ts";
import { faviconRoutes } from "./http/pages/favicon.ts";
import { panelRoutes } from "./http/pages/panel.ts";
import { allowedMethods, noRoute, requirePlainPath } from "./http/paths.ts";
import { readUnread } from "./http/read-on.ts";
import { describeRequest } from "./http/request.ts";
import { isManaged, securitySchemes } from "./http/route.ts";

export type App = OpenAPIHono<AppEnv>;

/**
 * Mounts the routes after `describeRequest`, `requirePlainPath`, the opening and the gate of impersonations, with one
 * error handler for all.
 */
export function createApp(services: Services, groups: readonly App[], opening: Opening): App {
  const app = new OpenAPIHono<AppEnv>({ strict: true });
  app.use(describeRequest(services));
  app.use(readUnread);
  app.use(requirePlainPath);
  app.use(opening.middleware);
  app.use(refuseImpersonatedWrites);
  for (const group of groups) serve(app, group, services.options.edition);

  app.route("/", docsRoutes(services));
  app.route("/", faviconRoutes);
  if (services.options.panel) app.route("/", panelRoutes(services));
  let document: string | undefined;
  app.get("/openapi.json", (c) => {
    document ??= JSON.stringify(describe(groups));
    return c.body(document, 200, { "Content-Type": "application/json" });
  });
  app.onError(onError);
  const methods = allowedMethods(app);
  // Returned, not thrown: an error thrown here would bypass `describeRequest`.
  app.notFound((c) => {
    const allowed = methods(c.req.path).join(", ");
    if (allowed !== "") c.header("Allow", allowed);
    return onError(allowed === "" ? noRoute(c.req.path) : wrongMethod(c.req.method, allowed), c);
  });
  return app;
}

/**
 * Adds a group's routes, in the open edition without those of the managed one. The group itself stays as it is, since
 * all apps of a process share it.
 */
function serve(app: App, group: App, { managed }: Edition): void {
  const definitions = group.openAPIRegistry.definitions.flatMap((one) => (one.type === "route" ? [one.route] : []));
  const absent = new Set(managed ? [] : definitions.filter(isManaged).map(nameOf));
  for (const { method, path, handler } of group.routes) {
    // A preflight asks for a POST, and is absent with it.
    const name = `${method === "OPTIONS" ? "POST" : method} ${path}`;
    if (!absent.has(name)) app.on(method, path, handler);
  }
}

/** A route's method and path, as in `Hono.routes`. */
const nameOf = ({ method, path }: { method: string; path: string }) =>
  `${method.toUpperCase()} ${path.replaceAll(/\/\{(.+?)\}/g, "/:$1")}`;

function wrongMethod(method: string, allowed: string): EngineError {
  return new EngineError("method-not-allowed", `${method} is not allowed here; use ${allowed}`);
}

/**
 * The OpenAPI 3.1 document of both editions. Its version is that of the contract, not of the release (spec "Versioning"
 * 1).
 */
export function describe(groups: readonly App[]) {
  const app = new OpenAPIHono<AppEnv>();
  for (const [name, scheme] of Object.entries(securitySchemes)) {
    app.openAPIRegistry.registerComponent("securitySchemes", name, scheme);
  }
  for (const group of groups) app.route("/", group);
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Agent Engine",
      version: "0.1.0",
      description:
        "A self-hosted server for AI assistants: agents behind a chat-completions API, a native event stream and messengers.",
      license: { name: "MIT" },
    },
    servers: [{ url: "/", description: "This server." }],
    tags: [
      { name: "Chat", description: "Talk to an agent." },
      { name: "Agents", description: "Create and configure agents." },
      { name: "Prompts", description: "What an agent is told before each turn, in eight sections." },
      { name: "Skills", description: "Instructions for agents: the catalogue, and what each agent has of it." },
      { name: "Secrets", description: "Credentials of an agent; never readable." },
      { name: "Providers", description: "Connections to model providers, and the agents that use them." },
      { name: "Tools", description: "What agents can do beside talking." },
      { name: "Hooks", description: "Tools that are called around every reply." },
      { name: "Conversations", description: "What was said with an agent, and the files that came with it." },
      { name: "Activity", description: "What agents do at this moment." },
      { name: "Memories", description: "What agents remember about end users." },
      { name: "Channels", description: "Where an agent is reached." },
      { name: "Room", description: "What an agent does on its own, when events of other systems come in." },
      { name: "Scheduled tasks", description: "What an agent does at set times." },
      { name: "Account", description: "Sign-in and the current user." },
      { name: "Users", description: "The users of the whole installation, for Platform Admins." },
      { name: "Organizations", description: "Organizations, their members, workspaces and management keys." },
      { name: "Installation", description: "What holds for the whole installation." },
      { name: "Analytics", description: "What agents did in a period, and the tokens that it took." },
      { name: "Audit log", description: "Who did what, when, and from where." },
      { name: "Service", description: "Health and description." },
    ],
  });
}
