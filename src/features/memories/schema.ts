import { z } from "@hono/zod-openapi";
import { type SubjectChannel as Channel, type SubjectKey, subjectKey } from "../../core/channels/subjects.ts";
import { zInt4, zText } from "../../core/text/text.ts";
import { countedPage, pageQuery } from "../../http/paging.ts";
import { SubjectChannel, Timestamp } from "../../http/shapes.ts";

/** The longest content, in characters. */
export const longestContent = 4_000;
export const longestCategory = 64;

const notEmpty = "must not be empty";

const content = zText(longestContent)
  .trim()
  .min(1, notEmpty)
  .openapi({ description: "One fact, in a sentence.", example: "Prefers to be called in the afternoon." });
const category = zText(longestCategory).trim().min(1, notEmpty).openapi({ example: "preferences" });
const importance = zInt4(1, 10).openapi({ description: "1 to 10; what matters most is recalled first.", example: 7 });
const subject = zText(256).openapi({
  description:
    "The id of the end user it is about: `user` of a chat request, as the messenger knows them, or the id of a conversation that stands for its user. Empty: nobody in particular; every end user's conversations may recall it.",
  example: "user-42",
});
const subjectChannel = SubjectChannel.optional().openapi({
  description:
    "The channel of `subject`, which it needs: equal ids of two channels are two people. `web` where absent.",
});
const instanceId = zText(128).openapi({ description: "Slug of the agent.", example: "support" });

/** Whether a request names a channel but no id: that must not select everybody. */
const namesNobody = ({ subject, subjectChannel }: NamedSubject) =>
  subject === undefined && subjectChannel !== undefined;
const needsSubject = { path: ["subjectChannel"], message: "needs subject" };

/** The key of the end user in a request; undefined without one. */
export function subjectIn({ subject, subjectChannel = "web" }: NamedSubject): SubjectKey | undefined {
  return subject ? subjectKey(subjectChannel, subject) : subject === "" ? "" : undefined;
}

interface NamedSubject {
  subject?: string | undefined;
  subjectChannel?: Channel | undefined;
}

export const Memory = z
  .object({
    id: z.uuid(),
    instanceId: z.string().openapi({ description: "Slug of the agent.", example: "support" }),
    content: z.string().openapi({ example: "Prefers to be called in the afternoon." }),
    category: z.string().openapi({ example: "general" }),
    importance: z.int().openapi({ example: 5 }),
    subject: z.string().openapi({ description: "The end user it is about; empty: nobody in particular." }),
    subjectChannel: SubjectChannel.nullable().openapi({ description: "Null: it is about nobody in particular." }),
    sourceConversationId: z
      .string()
      .nullable()
      .openapi({ description: "Where it was said, if in a conversation.", example: "support:web:api-7" }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("Memory");
export type Memory = z.infer<typeof Memory>;

export const NewMemory = z
  .object({
    instanceId,
    content,
    category: category.optional(),
    importance: importance.optional(),
    subject: subject.optional(),
    subjectChannel,
  })
  .refine((of) => !namesNobody(of), needsSubject)
  .openapi("NewMemory", { example: { instanceId: "support", content: "Prefers tea.", subject: "user-42" } });
export type NewMemory = z.infer<typeof NewMemory>;

export const SavedMemory = z
  .object({
    memory: Memory,
    event: z.enum(["ADD", "UPDATE"]).openapi({
      description: "`UPDATE`: it took the place of one of the same subject that said the same or nearly so.",
    }),
  })
  .openapi("SavedMemory");
export type SavedMemory = z.infer<typeof SavedMemory>;

/** A filter for memories. An empty `instanceId` names no agent, not all agents. */
const which = {
  instanceId: instanceId.optional().openapi({ description: "Only this agent's." }),
  subject: subject.optional().openapi({ description: "Only about this end user." }),
  subjectChannel,
};

export const MemoryQuery = z
  .object({
    ...which,
    search: zText(256).optional().openapi({
      description: "Words that all occur, or their beginnings, in any case, with accents or without.",
      example: "call afternoon",
    }),
    category: zText(longestCategory)
      .optional()
      .openapi({ description: "The category, exactly.", example: "preferences" }),
    ...pageQuery(20, 100),
  })
  .refine((of) => !namesNobody(of), needsSubject);
export type MemoryQuery = z.infer<typeof MemoryQuery>;

/** Refuses unknown fields, since a misspelt filter must not delete everything. */
export const MemoryDeletion = z
  .strictObject(which, "knows only instanceId, subject and subjectChannel")
  .refine((of) => !namesNobody(of), needsSubject);
export type MemoryDeletion = z.infer<typeof MemoryDeletion>;

export const MemoryPage = z.object({ memories: z.array(Memory), ...countedPage }).openapi("MemoryPage");
export type MemoryPage = z.infer<typeof MemoryPage>;

export const DeletedMemories = z
  .object({ deleted: z.literal(true), count: z.int().openapi({ description: "How many there were.", example: 3 }) })
  .openapi("DeletedMemories");

export const memoryPath = z.object({
  id: z.string().openapi({ description: "The memory's id.", example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
});
