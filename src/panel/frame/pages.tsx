import type { ComponentChildren } from "preact";
import { lazy, Suspense } from "preact/compat";
import { AgentsPage } from "../pages/agents.tsx";
import { NotFoundPage } from "../pages/not-found.tsx";
import { Waiting } from "../ui/waiting.tsx";

const AgentPage = lazy(async () => ({ default: (await import("../pages/agent/agent.tsx")).AgentPage }));
const NewAgentPage = lazy(async () => ({ default: (await import("../pages/new-agent.tsx")).NewAgentPage }));

/** The pages of the navigation. */
export const sections: readonly { path: readonly string[]; title: string }[] = [{ path: ["agents"], title: "Agents" }];

/** The page of an address. What the first page does not need is loaded with its page. */
export function pageOf([first = "agents", ...rest]: readonly string[]): ComponentChildren {
  const [second, third] = rest;
  if (first !== "agents") return <NotFoundPage />;
  if (second === undefined) return <AgentsPage />;
  return (
    <Suspense fallback={<Loading />}>
      {second === "new" && third === undefined ? <NewAgentPage /> : <AgentPage slug={second} tab={third} />}
    </Suspense>
  );
}

const Loading = () => (
  <main class="page">
    <Waiting />
  </main>
);
