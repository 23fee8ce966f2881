import { z } from "@hono/zod-openapi";
import { readSender } from "../../core/mail.ts";
import { zInt4, zText } from "../../core/text/text.ts";
import { Email } from "../../http/shapes.ts";

const hidden = "The stored one, as a mask; null when there is none.";

const relay = {
  host: zText(253)
    .regex(/^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$/, "must be a host name or an IP address")
    .openapi({ description: "May be an address of a private network.", example: "smtp.example.com" }),
  port: zInt4(1, 65_535).openapi({ example: 587 }),
  secure: z.boolean().openapi({ description: "Whether the connection begins with TLS, as on port 465." }),
  requireTls: z.boolean().openapi({
    description:
      "Whether a connection without `secure` must change to TLS (STARTTLS); otherwise it may stay open text.",
  }),
  username: zText(256).nullable().openapi({ description: "Null for a relay without a login.", example: "agents" }),
  from: zText(330)
    .refine((text) => readSender(text) !== null, "must be an e-mail address, or: Name <address>")
    .openapi({ description: "The sender: an address, or `Name <address>`.", example: "Agents <agents@example.com>" }),
};

export const Relay = z
  .object({ ...relay, password: z.string().nullable().openapi({ description: hidden, example: "••••85a5" }) })
  .openapi("MailRelay");
export type Relay = z.infer<typeof Relay>;

export const RelayAnswer = z.object({ relay: z.union([Relay, z.null()]) }).openapi("MailRelayAnswer");

export const NewRelay = z
  .object({
    ...relay,
    port: relay.port.default(587),
    secure: relay.secure.default(false),
    requireTls: relay.requireTls.default(true),
    username: relay.username.default(null),
    password: zText(1024).nullish().openapi({
      description: "The mask, an empty text or no field keeps the stored one, for the same host, port and user name.",
      format: "password",
      example: "correct horse battery",
    }),
  })
  .openapi("NewMailRelay");
export type NewRelay = z.infer<typeof NewRelay>;

export const TestMail = z.object({ to: Email }).openapi("TestMail");

export const TestResult = z
  .object({
    ok: z.boolean().openapi({ description: "Whether the relay accepted the mail." }),
    latencyMs: z.int().openapi({ example: 240 }),
    error: z.string().nullable().openapi({ description: "Why not.", example: null }),
  })
  .openapi("TestMailResult");
export type TestResult = z.infer<typeof TestResult>;
