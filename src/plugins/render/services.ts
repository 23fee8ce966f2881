import { z } from "@hono/zod-openapi";
import { type JsonObject, listOf, objectOf } from "../../core/json.ts";
import type { PluginTool } from "../../core/plugins/plugin.ts";
import { zText } from "../../core/text/text.ts";
import type { AskApi } from "../json-api.ts";
import { numberOrNull, textOrNull } from "../shapes.ts";
import { describeTool } from "../tool.ts";
import { pageFields, pageOf, serviceId } from "./api.ts";

export const serviceTools = (ask: AskApi): PluginTool[] => [listServices(ask), getService(ask)];

const listServices = (ask: AskApi) =>
  describeTool({
    name: "listServices",
    description:
      "Lists the services on Render: web and private services, workers, cron jobs, static sites. `next` is the cursor of the next page, null on the last one.",
    input: z.object({
      name: zText(200).min(1, "must not be empty").optional().describe("Only the services with exactly this name."),
      type: z.enum(["web_service", "private_service", "background_worker", "cron_job", "static_site"]).optional(),
      suspended: z.boolean().optional().describe("Only suspended services, or only the others; all when absent."),
      ...pageFields,
    }),
    writes: false,
    execute: async ({ suspended, ...query }, context) => {
      const state = suspended === undefined ? undefined : suspended ? "suspended" : "not_suspended";
      const answer = await ask(context, { path: ["services"], query: { ...query, suspended: state } });
      const { items, next } = pageOf(answer, query.limit, (row) => serviceSummary(objectOf(row).service));
      return { services: items, next };
    },
  });

const getService = (ask: AskApi) =>
  describeTool({
    name: "getService",
    description: "Reads a service on Render: where it runs, what it is built from, its commands and its plan.",
    input: z.object({ serviceId }),
    writes: false,
    execute: async ({ serviceId }, context) => {
      const { body } = await ask(context, { path: ["services", serviceId] });
      return wholeService(body);
    },
  });

function serviceSummary(value: unknown): JsonObject {
  const service = objectOf(value);
  const details = objectOf(service.serviceDetails);
  return {
    id: textOrNull(service.id),
    name: textOrNull(service.name),
    type: textOrNull(service.type),
    suspended: service.suspended === "suspended",
    url: textOrNull(details.url),
    repo: textOrNull(service.repo),
    branch: textOrNull(service.branch),
    image: textOrNull(service.imagePath),
    region: textOrNull(details.region),
    updatedAt: textOrNull(service.updatedAt),
  };
}

function wholeService(value: unknown): JsonObject {
  const service = objectOf(value);
  const details = objectOf(service.serviceDetails);
  const commands = objectOf(details.envSpecificDetails);
  return {
    ...serviceSummary(service),
    suspenders: listOf(service.suspenders).flatMap((one) => textOrNull(one) ?? []),
    dashboardUrl: textOrNull(service.dashboardUrl),
    autoDeploy: service.autoDeploy === "yes",
    rootDir: textOrNull(service.rootDir),
    runtime: textOrNull(details.runtime) ?? textOrNull(details.env),
    plan: textOrNull(details.plan),
    instances: numberOrNull(details.numInstances),
    schedule: textOrNull(details.schedule),
    healthCheckPath: textOrNull(details.healthCheckPath),
    buildCommand: textOrNull(commands.buildCommand) ?? textOrNull(details.buildCommand),
    preDeployCommand: textOrNull(commands.preDeployCommand),
    startCommand: textOrNull(commands.startCommand) ?? textOrNull(commands.dockerCommand),
    publishPath: textOrNull(details.publishPath),
    createdAt: textOrNull(service.createdAt),
  };
}
