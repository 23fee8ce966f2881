import { z } from "@hono/zod-openapi";
import { zMoment } from "../../../core/time/calendar.ts";
import { isCommonYear, uncommonYear } from "../../../http/period.ts";
import { Name, organizationPath, Timestamp } from "../../../http/shapes.ts";

export const keyPath = organizationPath.extend({ id: z.string().openapi({ description: "The key's id." }) });

const id = z.uuid().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" });

export const NewManagementKey = z
  .object({
    name: Name.openapi({ description: "Its purpose.", example: "CI" }),
    expiresAt: zMoment()
      .refine((text) => isCommonYear(new Date(text)), uncommonYear)
      .nullish()
      .openapi({ description: "In the future; absent or null: it does not expire.", example: "2027-01-01T00:00:00Z" }),
  })
  .openapi("NewManagementKey");
export type NewManagementKey = z.infer<typeof NewManagementKey>;

const managementKey = {
  id,
  name: z.string().openapi({ example: "CI" }),
  prefix: z.string().openapi({ description: "The key's first characters, to tell keys apart.", example: "aek_Zk3dQ0" }),
  expiresAt: Timestamp.nullable(),
  createdAt: Timestamp,
};

export const ManagementKey = z
  .object({ ...managementKey, lastUsedAt: Timestamp.nullable().openapi({ description: "To the hour." }) })
  .openapi("ManagementKey");
export type ManagementKey = z.infer<typeof ManagementKey>;

export const ManagementKeys = z.object({ managementKeys: z.array(ManagementKey) }).openapi("ManagementKeys");

export const CreatedManagementKey = z
  .object({
    ...managementKey,
    key: z.string().openapi({ description: "The key itself. It is shown here and never again.", example: "aek_…" }),
  })
  .openapi("CreatedManagementKey");
export type CreatedManagementKey = z.infer<typeof CreatedManagementKey>;
