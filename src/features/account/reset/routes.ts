import { refuseForeignOrigin } from "../../../http/callers/origin.ts";
import { countRefused } from "../../../http/callers/refused.ts";
import { errorAnswers, json, jsonBody, router, unguarded } from "../../../http/route.ts";
import { requestOf } from "../request.ts";
import { ForgotPassword, ResetPassword, Success } from "../schema.ts";
import { requestResetMail, resetWithLink } from "./service.ts";

const options = { feature: "administration" } as const;

const forgot = unguarded(
  {
    method: "post",
    path: "/api/auth/forgot-password",
    operationId: "forgotPassword",
    tags: ["Account"],
    summary: "Ask for a link to reset the password",
    description:
      "Mails a link, which works once and for 30 minutes, when the e-mail has an active account and the installation has a mail relay. The answer is the same in each case. An e-mail gets 3 mails an hour. Calls count for the policy `rateLimit` by the client's address.",
    request: { body: jsonBody(ForgotPassword) },
    responses: { 200: json(Success, "The request was taken."), ...errorAnswers(400, 403, 429) },
  },
  options,
);

const reset = unguarded(
  {
    method: "post",
    path: "/api/auth/reset-password",
    operationId: "resetPassword",
    tags: ["Account"],
    summary: "Reset the password with a link",
    description:
      "Takes the token of the link in the mail, sets the password and ends all sessions of the user. Sign in afterwards. Calls count for the policy `rateLimit` by the client's address.",
    request: { body: jsonBody(ResetPassword) },
    responses: { 200: json(Success, "The password is changed."), ...errorAnswers(400, 401, 403, 429) },
  },
  options,
);

/** `/api/auth/forgot-password` and `/api/auth/reset-password`. */
export const resetRoutes = router()
  .openapi(forgot, async (c) => {
    countRefused(c);
    refuseForeignOrigin(c);
    await requestResetMail(c.var.services, c.req.valid("json").email);
    return c.json({ success: true as const }, 200);
  })
  .openapi(reset, async (c) => {
    countRefused(c);
    refuseForeignOrigin(c);
    await resetWithLink(c.var.services, c.req.valid("json"), requestOf(c));
    return c.json({ success: true as const }, 200);
  });
