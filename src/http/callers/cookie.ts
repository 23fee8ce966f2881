import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { sessionSeconds } from "../../core/credentials/tokens.ts";
import { EngineError } from "../../core/errors.ts";
import type { AppEnv } from "../environment.ts";
import { isSecure } from "./origin.ts";

/** The session cookie's name (decisions §2). */
const sessionCookie = "agent_engine.session_token";

/**
 * The session's token, or null. Throws the 401 for cookies that differ: a neighbouring site may have set one of them
 * for a path of this server, and nothing shows which one is right.
 */
export function readSessionCookie(c: Context<AppEnv>): string | null {
  const sent = (c.req.header("Cookie") ?? "").split(";").filter((pair) => pair.trim().startsWith(`${sessionCookie}=`));
  if (new Set(sent.map((pair) => pair.trim())).size > 1) {
    throw new EngineError("unauthorized", "Several session cookies were sent: delete this site's cookies, and sign in");
  }
  return getCookie(c, sessionCookie) || null;
}

/** Sets the session cookie, for the session's lifetime. Scripts of pages can't read it. */
export function setSessionCookie(c: Context<AppEnv>, token: string): void {
  setCookie(c, sessionCookie, token, { ...attributes(c), maxAge: sessionSeconds });
}

export function clearSessionCookie(c: Context<AppEnv>): void {
  deleteCookie(c, sessionCookie, attributes(c));
}

const attributes = (c: Context<AppEnv>) =>
  ({ httpOnly: true, sameSite: "Lax", secure: isSecure(c), path: "/" }) as const;
