import { digest, toBase64 } from "../core/ids.ts";

/** Whether the setup link works, is wrong, or is not needed any more. */
export type SetupState = "ready" | "invalid" | "installed";

interface Page {
  html: string;
  /** Allows only the script and the style of this page, by their hashes. */
  contentSecurityPolicy: string;
}

/** The page behind the one-time setup link. The token goes into a hidden field, never into the script. */
export async function setupPage(state: SetupState, token: string): Promise<Page> {
  const ready = state === "ready";
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Set up Agent Engine</title>
<style>${style}</style>
</head>
<body>
<main>
${ready ? form(token) : explanations[state]}
</main>
${ready ? `<script>${script}</script>` : ""}
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `style-src '${await hash(style)}'`,
    ...(ready ? [`script-src '${await hash(script)}'`, "connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { html, contentSecurityPolicy: policy.join("; ") };
}

const hash = async (source: string) => `sha256-${toBase64(await digest(source))}`;

function escapeAttribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const explanations = {
  installed: `<h1>Already set up</h1>
<p>This installation has an owner, so the setup link has done its work. Sign in with that account, or ask the owner to
make one for you.</p>`,
  invalid: `<h1>This link does not work</h1>
<p>A setup link works once and for 24 hours. Restart the server: while there is no owner, it prints a new link at every
start. Copy the whole line, up to its last character.</p>`,
};

const form = (token: string) => `<h1>Set up Agent Engine</h1>
<p id="intro">Make the first account. It owns this installation.</p>
<noscript><p class="error">This page needs JavaScript. Without it, send the same fields as JSON to
<code>POST /api/setup</code>.</p></noscript>
<form id="form" method="post" aria-describedby="intro">
  <input type="hidden" name="token" value="${escapeAttribute(token)}">
  <p id="problem" class="error" role="alert" tabindex="-1" hidden></p>
  <label for="email">E-mail</label>
  <input id="email" name="email" type="email" maxlength="254" autocomplete="username" required autofocus>
  <label for="password">Password</label>
  <input id="password" name="password" type="password" minlength="8" maxlength="256" autocomplete="new-password"
    aria-describedby="password-hint" required>
  <p id="password-hint" class="hint">At least 8 characters.</p>
  <label for="again">Password again</label>
  <input id="again" type="password" maxlength="256" autocomplete="new-password" required>
  <label for="name">Your name <span class="hint">(optional)</span></label>
  <input id="name" name="name" maxlength="128" autocomplete="name">
  <label for="organization">Organization <span class="hint">(optional)</span></label>
  <input id="organization" name="organization" maxlength="63" pattern="[a-z0-9][a-z0-9\\-]*" placeholder="default"
    autocapitalize="none" spellcheck="false" aria-describedby="organization-hint">
  <p id="organization-hint" class="hint">A short name for addresses: lower-case letters, digits and dashes.</p>
  <button type="submit">Create the owner</button>
</form>
<section id="done" aria-labelledby="done-title" hidden>
  <h1 id="done-title" tabindex="-1">The owner is there</h1>
  <p>The setup link is used up. Sign in from a terminal, with your password in the place of
  <code>YOUR-PASSWORD</code>:</p>
  <pre tabindex="0" aria-label="Command that signs in"><code id="command"></code></pre>
  <p>The answer holds a <code>token</code>. Send it as <code>Authorization: Bearer TOKEN</code> to create an agent with
  <code>POST /api/instances</code>. Every route is described in <a href="openapi.json">openapi.json</a>.</p>
</section>`;

const style = `
:root { color-scheme: light dark; --ink: #1b1d22; --soft: #565c68; --paper: #ffffff; --field: #ffffff; --line: #80869a;
  --accent: #2450c4; --on-accent: #ffffff; --error: #a8121f; --code: #eef0f4; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #a9b0bd; --paper: #14161a; --field: #1d2026;
  --line: #7d8496; --accent: #9db8ff; --on-accent: #10131a; --error: #ff9b9b; --code: #22262e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 28rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h1:focus { outline: none; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
label { display: block; margin-top: 1rem; font-weight: 600; }
.hint { color: var(--soft); font-size: .875rem; font-weight: 400; margin: .25rem 0 0; }
input { width: 100%; margin-top: .25rem; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--field);
  border: 1px solid var(--line); border-radius: .4rem; }
button { width: 100%; margin-top: 1.75rem; padding: .7rem; font: inherit; font-weight: 600; color: var(--on-accent);
  background: var(--accent); border: 0; border-radius: .4rem; cursor: pointer; }
button:disabled { opacity: .6; cursor: progress; }
:is(input, button, a, pre, .error):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
.error { color: var(--error); font-weight: 600; }
[hidden] { display: none; }
pre { overflow-x: auto; padding: .8rem; background: var(--code); border-radius: .4rem; font-size: .875rem; }
pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
`;

const script = `
const find = (id) => document.getElementById(id);
const form = find("form"), problem = find("problem"), button = form.querySelector("button");
const fail = (text, field) => {
  problem.textContent = text;
  problem.hidden = false;
  (field ?? problem).focus();
};
const inShell = (text) => "'" + text.replaceAll("'", "'\\\\''") + "'";
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.hidden = true;
  if (find("password").value !== find("again").value) return fail("The two passwords differ.", find("again"));
  const body = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
  button.disabled = true;
  try {
    const response = await fetch("api/setup", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) return fail(answer.message ?? "The server refused: " + response.status);
    const credentials = JSON.stringify({ email: answer.user.email, password: "YOUR-PASSWORD" });
    const address = new URL("api/auth/sign-in/email", location.href).href;
    find("command").textContent =
      "curl " + inShell(address) + " -H 'Content-Type: application/json' -d " + inShell(credentials);
    // The used link need not stay in the history.
    history.replaceState(null, "", location.pathname);
    form.remove();
    find("intro").remove();
    document.querySelector("h1").remove();
    find("done").hidden = false;
    find("done-title").focus();
  } catch {
    fail("The server can't be reached. Is it still running?");
  } finally {
    button.disabled = false;
  }
});
`;
