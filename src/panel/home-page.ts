import { escapeHtml, htmlPage, type Page } from "./page.ts";

/** The page at the server's own address. `address` is the public one, without a slash at its end. */
export function homePage({ installed, address }: { installed: boolean; address: string }): Promise<Page> {
  return htmlPage({
    title: "Agent Engine",
    main: installed ? directions(escapeHtml(address)) : unowned,
    wide: installed,
  });
}

const unowned = `<h1>Agent Engine runs here</h1>
<p>Nobody owns it yet. When it started, the server printed a link that ends in <code>/setup?token=…</code>: open that to
make the first account. A restart prints a new one.</p>`;

const directions = (address: string) => `<h1>Agent Engine runs here</h1>
<p>Its agents answer at this address, with an agent's slug as the model and its key as the API key:</p>
<pre tabindex="0" aria-label="Address for chat-completions clients"><code>${address}/v1</code></pre>
<p>From a terminal:</p>
<pre tabindex="0" aria-label="Command that says hello"><code>curl ${address}/v1/chat/completions \\
  -H "Authorization: Bearer $AGENT_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"assistant","messages":[{"role":"user","content":"Hello"}]}'</code></pre>
<h2>Where to go next</h2>
<ul>
<li><a href="docs">The API pages</a> describe every call and try it out: sign in there with
<code>POST /api/auth/sign-in/email</code> under Account, then make an agent with <code>POST /api/instances</code> under
Agents.</li>
<li><a href="openapi.json">openapi.json</a> is the same for programs.</li>
<li><code>npx agent-engine chat assistant</code> chats with an agent in a terminal, <code>npx agent-engine doctor</code>
checks the installation.</li>
</ul>`;
