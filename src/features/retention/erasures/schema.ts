import { z } from "@hono/zod-openapi";
import { zText } from "../../../core/text/text.ts";
import { SubjectChannel } from "../../../http/shapes.ts";

export const NewErasure = z
  .object({
    subject: zText(256).min(1, "must not be empty").openapi({
      description:
        "The id of the person: `user` of a chat request, as the messenger knows them, or the id of a conversation that stands for its user.",
      example: "user-42",
    }),
    subjectChannel: SubjectChannel.default("web"),
    instanceId: zText(128).optional().openapi({
      description: "Slug of the only agent whose data is erased; absent: of all agents of the organization.",
      example: "support",
    }),
  })
  .openapi("NewErasure");
export type NewErasure = z.infer<typeof NewErasure>;

const Erasure = z
  .object({
    id: z.uuid().openapi({
      description: "`erasureId` in the entries `erasure.create` and `erasure.complete` of the audit log.",
      example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d",
    }),
  })
  .openapi("Erasure");

export const ErasureAnswer = z.object({ erasure: Erasure }).openapi("ErasureAnswer");
