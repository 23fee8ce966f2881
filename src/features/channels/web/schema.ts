import { z } from "@hono/zod-openapi";
import { isMask } from "../../../core/credentials/masks.ts";
import { authKeyProblem } from "../../secrets/index.ts";
import { mappingProblems, originOf, switchesAgree } from "../rules.ts";

/** Checked by `mappingProblems`, because zod's records drop a `__proto__` silently. */
const contextMapping = z
  .unknown()
  .transform((value, context): Record<string, string> => {
    for (const { key, message } of mappingProblems(value)) {
      context.addIssue({ code: "custom", path: key === null ? [] : [key], message });
    }
    return context.issues.length > 0 ? z.NEVER : (value as Record<string, string>);
  })
  .openapi({
    type: "object",
    additionalProperties: { type: "string" },
    description: "Conversation-state key → dotted path in the request's `context`. At most 64 entries.",
    example: { customerId: "customer.id" },
  });

const origin = z
  .string()
  .max(256, "must be at most 256 characters")
  .transform((value, context) => {
    const found = value !== "*" && value.includes("*") ? null : originOf(value);
    if (found !== null) return found;
    const message = value.includes("*")
      ? "can't have a wildcard: name each origin, such as https://example.com, or send * alone for all"
      : "must be an origin, such as https://example.com, or *";
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });

const allowedOrigins = z
  // Not a union: its error would not name the invalid entry.
  .preprocess((value) => (value === "*" ? [value] : value), z.array(origin).max(64, "must have at most 64 entries"))
  .transform((origins) => [...new Set(origins)])
  .openapi({
    type: "array",
    items: { type: "string" },
    description:
      "Origins whose pages may call the chat routes from a browser; `*` alone for any; no other wildcard. None to begin with. While `authEnabled` is off, requests from all others but the server's own are refused.",
    example: ["https://example.com"],
  });

const apiKey = z
  .string()
  .max(8192, "must be at most 8192 characters")
  .superRefine((value, context) => {
    const problem = value === "" || isMask(value) ? null : authKeyProblem(value);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  })
  .openapi({
    description:
      "Stored as the secret `auth_api_key`. At least 16 characters, and no other agent's. Empty: left as it is.",
    example: "sk-agent-of-your-own",
  });

const requireAuthentication = z.boolean().openapi({ description: "The agent's `authEnabled`." });

export const WebConfigChanges = z
  .object({
    apiKey: apiKey.optional(),
    requireAuthentication: requireAuthentication.optional(),
    authEnabled: z.boolean().optional().openapi({ description: "Another name of `requireAuthentication`." }),
    contextMapping: contextMapping.optional(),
    allowedOrigins: allowedOrigins.optional(),
  })
  .refine(switchesAgree, { path: ["requireAuthentication"], message: "contradicts authEnabled: send one of the two" })
  .openapi("WebConfigChanges");
export type WebConfigChanges = z.infer<typeof WebConfigChanges>;

/** The stored configuration, without the key. */
export const WebConfigShown = z
  .object({
    apiKeyConfigured: z.boolean().openapi({ description: "Whether a key is stored; it is never shown again." }),
    requireAuthentication,
    contextMapping: z.record(z.string(), z.string()).openapi({ example: { customerId: "customer.id" } }),
    allowedOrigins: z.array(z.string()).openapi({ example: ["https://example.com"] }),
  })
  .openapi("WebConfig");
