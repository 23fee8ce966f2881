import { z } from "@hono/zod-openapi";
import { subjectChannels } from "../core/channels/subjects.ts";
import { permissions } from "../core/credentials/permissions.ts";
import { zText } from "../core/text/text.ts";

/** The response of most deletions (decisions §3). */
export const Deleted = z.object({ deleted: z.literal(true) }).openapi("Deleted");

/** An ISO 8601 time in UTC. */
export const Timestamp = z.iso.datetime().openapi({ example: "2026-11-21T08:00:00.000Z" });

/** The channel of an end user, which belongs to the id (decisions §5). */
export const SubjectChannel = z.enum(subjectChannels).openapi({
  description:
    "The channel of an end user: `web` for the `user` of a chat request, a messenger for a person of it, `conversation` where a conversation stands for its user.",
  example: "web",
});

export const Email = zText(254)
  .trim()
  .toLowerCase()
  .pipe(z.email("must be an e-mail address"))
  .openapi({ description: "Upper case counts as lower case.", example: "owner@example.com" });

/** A new password. (A sign-in accepts any text.) */
export const ChosenPassword = zText(256)
  .min(8, "must be at least 8 characters")
  .openapi({ description: "8 to 256 characters.", format: "password", example: "correct horse battery" });

/** The name of a person or a thing. */
export const Name = zText(128).trim().min(1, "must not be empty");

export const Permissions = z.array(z.enum(permissions, { error: "must be a permission, such as agent:read" }));

/** The slug of an organization, as in paths and in `X-Organization`. */
export const OrganizationSlug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must be 1 to 63 lower-case letters, digits or dashes, and not begin with a dash")
  .openapi({ example: "default" });

/** The organization in the paths of routes about it. */
export const organizationPath = z.object({
  orgSlug: z.string().openapi({ description: "Slug of the organization.", example: "default" }),
});
