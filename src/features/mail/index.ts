import type { Contribution } from "../../contribution.ts";
import { mailRoutes } from "./routes.ts";

/** Sends a mail in a job. */
export { sendMail } from "./send.ts";
/** Whether mails are sent. */
export { sendsMails } from "./service.ts";

/** The mail relay of the managed edition: `/api/installation/mail-relay`. */
export const mailFeature: Contribution = { routes: [mailRoutes] };
