import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { zForm } from "../tool.ts";

const id = (example: string) =>
  zForm(/^[a-z]{2,8}-[a-zA-Z0-9-]{1,64}$/, `must be an id such as ${example}`).describe(`Such as ${example}.`);

export const serviceId = id("srv-cukouhrtq21c73e9scng");
export const deployId = id("dep-cukouhrtq21c73e9scn0");

export const pageFields = {
  limit: z.int().min(1).max(100).default(20),
  cursor: zText(1_000).min(1, "must not be empty").optional().describe("Take `next` of the page before."),
};
