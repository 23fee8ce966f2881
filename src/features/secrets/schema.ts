import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { slugParam } from "../agents/index.ts";

const key = z
  .string()
  .regex(/^[a-z0-9_]{1,64}$/, "must be 1 to 64 of a-z, 0-9 and _")
  .openapi({ example: "auth_api_key" });

const item = z.object({
  key,
  value: zText(8192).openapi({
    description:
      "Never readable again. Empty: left as it is. At least 6 characters, but for addresses, places and settings of plugins that are not sensitive.",
    example: "sk-agent-of-your-own",
  }),
});

const distinct = (items: readonly { key: string }[]) => new Set(items.map((one) => one.key)).size === items.length;

export const SecretsBody = z
  .object({
    secrets: z
      .array(item)
      .min(1, "must name at least one secret")
      .max(64, "must have at most 64 entries")
      .refine(distinct, "must not name a key twice"),
  })
  .openapi("SecretsBody");

export const SecretList = z
  .object({
    secrets: z.array(
      z.object({
        key: z.string().openapi({ example: "auth_api_key" }),
        configured: z.boolean().openapi({ description: "Whether a value is stored." }),
      }),
    ),
    dropped: z
      .array(z.string())
      .optional()
      .openapi({
        description: "Only after a change: the stored keys of providers that were deleted with it.",
        example: ["openai_api_key"],
      }),
  })
  .openapi("SecretList");
export type SecretList = z.infer<typeof SecretList>;

export const secretParams = slugParam.extend({ key });
