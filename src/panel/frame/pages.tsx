import type { ComponentChildren } from "preact";
import { lazy, Suspense } from "preact/compat";
import { AgentsPage } from "../pages/agents.tsx";
import { NotFoundPage } from "../pages/not-found.tsx";
import { Waiting } from "../ui/waiting.tsx";

const AgentPage = lazy(async () => ({ default: (await import("../pages/agent/agent.tsx")).AgentPage }));
const ApprovalsPage = lazy(async () => ({ default: (await import("../pages/approvals.tsx")).ApprovalsPage }));
const ConversationPage = lazy(async () => ({
  default: (await import("../pages/conversations/conversation.tsx")).ConversationPage,
}));
const ConversationsPage = lazy(async () => ({
  default: (await import("../pages/conversations/conversations.tsx")).ConversationsPage,
}));
const NewAgentPage = lazy(async () => ({ default: (await import("../pages/new-agent.tsx")).NewAgentPage }));

/** The pages of the navigation. */
export const sections: readonly { path: readonly string[]; title: string }[] = [
  { path: ["agents"], title: "Agents" },
  { path: ["conversations"], title: "Conversations" },
  { path: ["approvals"], title: "Approvals" },
];

/** The page of an address. What the first page does not need is loaded with its page. */
export function pageOf([first = "agents", ...rest]: readonly string[]): ComponentChildren {
  return <Suspense fallback={<Loading />}>{choose(first, rest)}</Suspense>;
}

function choose(first: string, [second, third]: readonly string[]): ComponentChildren {
  switch (first) {
    case "agents":
      if (second === undefined) return <AgentsPage />;
      return second === "new" && third === undefined ? <NewAgentPage /> : <AgentPage slug={second} tab={third} />;
    case "conversations":
      return second === undefined ? <ConversationsPage /> : <ConversationPage key={second} id={second} />;
    case "approvals":
      return <ApprovalsPage />;
    default:
      return <NotFoundPage />;
  }
}

const Loading = () => (
  <main class="page">
    <Waiting />
  </main>
);
