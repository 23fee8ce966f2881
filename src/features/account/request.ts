import type { Context } from "hono";
import type { AppEnv } from "../../http/environment.ts";

/** The fields of a request for the audit log. */
export const requestOf = (c: Context<AppEnv>) => ({
  id: c.var.requestId,
  ip: c.var.ip,
  userAgent: c.req.header("User-Agent") ?? "",
});
