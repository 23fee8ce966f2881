import { escapeHtml, htmlPage, type Page } from "./page.ts";

/** Whether the setup link works, is wrong, or is not needed any more. */
export type SetupState = "ready" | "invalid" | "installed";

/** The page behind the one-time setup link. The token goes into a hidden field, never into the script. */
export function setupPage(state: SetupState, token: string): Promise<Page> {
  const title = "Set up Agent Engine";
  return htmlPage(state === "ready" ? { title, main: form(token), script } : { title, main: explanations[state] });
}

const explanations = {
  installed: `<h1>Already set up</h1>
<p>This installation has an owner, so the setup link has done its work. <a href="./">Here is where to go next</a>; for an
account of your own, ask the owner.</p>`,
  invalid: `<h1>This link does not work</h1>
<p>A setup link works once and for 24 hours. Restart the server: while there is no owner, it prints a new link at every
start. Copy the whole line, up to its last character.</p>`,
};

const form = (token: string) => `<h1>Set up Agent Engine</h1>
<p id="intro">Make the first account. It owns this installation.</p>
<noscript><p class="error">This page needs JavaScript. Without it, send the same fields as JSON to
<code>POST /api/setup</code>.</p></noscript>
<form id="form" method="post" aria-describedby="intro">
  <input type="hidden" name="token" value="${escapeHtml(token)}">
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
  <p>You are signed in. Make the first agent: it answers through any chat-completions client.</p>
  <form id="agent">
    <p id="agent-problem" class="error" role="alert" tabindex="-1" hidden></p>
    <label for="slug">Its name in addresses</label>
    <input id="slug" name="slug" maxlength="128" pattern="[a-z0-9_.\\-]+" value="assistant" autocapitalize="none"
      spellcheck="false" aria-describedby="slug-hint" required>
    <p id="slug-hint" class="hint">Lower-case letters, digits, dashes, dots and underscores.</p>
    <button type="submit">Create the agent</button>
  </form>
  <p class="after">Or go on <a href="./">without one</a>.</p>
</section>
<section id="ready" aria-labelledby="ready-title" hidden>
  <h1 id="ready-title" tabindex="-1">The agent answers</h1>
  <p>This is its key. It is shown only now: keep it as you keep a password.</p>
  <pre tabindex="0" aria-label="Key of the agent"><code id="key"></code></pre>
  <p>Say hello from a terminal:</p>
  <pre tabindex="0" aria-label="Command that says hello"><code id="command"></code></pre>
  <p>Until a provider has a key, the built-in demo model answers: it echoes and is no language model.</p>
  <p>The <a href="docs">API pages</a> try every call out as you, since you are signed in. <a href="./">Here is what
  else there is</a>.</p>
</section>`;

const script = `
const find = (id) => document.getElementById(id);
const inShell = (text) => "'" + text.replaceAll("'", "'\\\\''") + "'";
const call = async (method, path, json) => {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(path, { method, headers, body: JSON.stringify(json) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message ?? "The server refused: " + response.status);
  return answer;
};
const reasonOf = (error) =>
  error instanceof TypeError ? "The server can't be reached. Is it still running?" : error.message;
/** Runs the step once at a time, and shows why it failed. */
const onSubmit = (form, problem, step) => form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  const fail = (text, field = problem) => {
    problem.textContent = text;
    problem.hidden = false;
    field.focus();
  };
  problem.hidden = true;
  button.disabled = true;
  try {
    await step(fail);
  } catch (error) {
    fail(reasonOf(error));
  } finally {
    button.disabled = false;
  }
});
const show = (section) => {
  find(section).hidden = false;
  find(section + "-title").focus();
};

onSubmit(find("form"), find("problem"), async (fail) => {
  if (find("password").value !== find("again").value) return fail("The two passwords differ.", find("again"));
  const body = Object.fromEntries([...new FormData(find("form"))].filter(([, value]) => value !== ""));
  const { user } = await call("POST", "api/setup", body);
  // The used link need not stay in the history.
  history.replaceState(null, "", location.pathname);
  let problem = null;
  await call("POST", "api/auth/sign-in/email", { email: user.email, password: body.password }).catch((error) => {
    problem = "The owner is there, but signing in failed: " + reasonOf(error);
  });
  find("form").remove();
  find("intro").remove();
  document.querySelector("h1").remove();
  show("done");
  if (problem === null) return;
  find("agent-problem").textContent = problem;
  find("agent-problem").hidden = false;
});

const newKey = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return "sk-agent-" + btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
};
let made = null;
onSubmit(find("agent"), find("agent-problem"), async () => {
  const slug = find("slug").value;
  // A second try after a failure in between finds the agent made.
  if (made !== slug) await call("POST", "api/instances", { slug });
  made = slug;
  const apiKey = newKey();
  await call("PUT", "api/instances/" + encodeURIComponent(slug) + "/channels/web", { enabled: true, config: { apiKey } });
  const address = new URL("v1/chat/completions", location.href).href;
  const hello = { model: slug, messages: [{ role: "user", content: "Hello" }] };
  find("key").textContent = apiKey;
  find("command").textContent = "curl " + inShell(address) + " -H " + inShell("Authorization: Bearer " + apiKey) +
    " -H 'Content-Type: application/json' -d " + inShell(JSON.stringify(hello));
  find("ready-title").textContent = slug + " answers";
  find("done").remove();
  show("ready");
});
`;
