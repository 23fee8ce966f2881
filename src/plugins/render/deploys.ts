import { z } from "@hono/zod-openapi";
import { isObject, type JsonObject, type JsonValue, objectOf } from "../../core/json.ts";
import type { PluginTool } from "../../core/plugins/plugin.ts";
import { zText } from "../../core/text/text.ts";
import type { AskApi } from "../json-api.ts";
import { given, longText, textOrNull } from "../shapes.ts";
import { describeTool, zForm } from "../tool.ts";
import { deployId, pageFields, pageOf, serviceId } from "./api.ts";

export const deployTools = (ask: AskApi): PluginTool[] => [listDeploys(ask), getDeploy(ask), createDeploy(ask)];

const statuses = [
  ...(["created", "queued", "build_in_progress", "pre_deploy_in_progress", "update_in_progress", "live"] as const),
  ...(["deactivated", "build_failed", "pre_deploy_failed", "update_failed", "canceled"] as const),
] as const;

const listDeploys = (ask: AskApi) =>
  describeTool({
    name: "listDeploys",
    description:
      "Lists the deploys of a service on Render, newest first. `next` is the cursor of the next page, null on the last one.",
    input: z.object({ serviceId, status: z.enum(statuses).optional(), ...pageFields }),
    writes: false,
    execute: async ({ serviceId, ...query }, context) => {
      const answer = await ask(context, { path: ["services", serviceId, "deploys"], query });
      const { items, next } = pageOf(answer, query.limit, (row) => deployOf(objectOf(row).deploy));
      return { deploys: items, next };
    },
  });

const getDeploy = (ask: AskApi) =>
  describeTool({
    name: "getDeploy",
    description: "Reads a deploy of a service on Render, such as how far it is. It is done when `finishedAt` is set.",
    input: z.object({ serviceId, deployId }),
    writes: false,
    execute: async ({ serviceId, deployId }, context) => {
      const { body } = await ask(context, { path: ["services", serviceId, "deploys", deployId] });
      return deployOf(body);
    },
  });

const createDeploy = (ask: AskApi) =>
  describeTool({
    name: "createDeploy",
    description:
      "Starts a deploy of a service on Render: of the branch's latest commit unless told otherwise. `queued` without a deploy: it starts after the one that is under way; listDeploys shows it then.",
    input: z.object({
      serviceId,
      commitId: zForm(/^[0-9a-f]{7,64}$/, "must be the sha of a commit")
        .optional()
        .describe("The sha of a commit to deploy; not for cron jobs."),
      imageUrl: zText(500)
        .min(1, "must not be empty")
        .optional()
        .describe("An image to deploy, of a service made from an image; only its tag or digest may differ."),
      clearCache: z.boolean().default(false).describe("Whether to clear the build cache before."),
    }),
    writes: true,
    execute: async ({ serviceId, clearCache, ...fields }, context) => {
      const { body } = await ask(context, {
        method: "POST",
        path: ["services", serviceId, "deploys"],
        json: given({ ...fields, clearCache: clearCache ? "clear" : "do_not_clear" }),
      });
      return startedDeploy(body);
    },
  });

/** The started deploy; Render's response for a queued one has no body. */
function startedDeploy(body: JsonValue): JsonObject {
  const deploy = isObject(body) ? deployOf(body) : null;
  return { queued: deploy === null || deploy.status === "queued", deploy };
}

const longestMessage = 1_000;

function deployOf(value: unknown): JsonObject {
  const deploy = objectOf(value);
  const { commit, image } = deploy;
  return {
    id: textOrNull(deploy.id),
    status: textOrNull(deploy.status),
    trigger: textOrNull(deploy.trigger),
    commit: isObject(commit) ? { id: textOrNull(commit.id), message: longText(commit.message, longestMessage) } : null,
    image: textOrNull(objectOf(image).ref),
    createdAt: textOrNull(deploy.createdAt),
    startedAt: textOrNull(deploy.startedAt),
    finishedAt: textOrNull(deploy.finishedAt),
  };
}
