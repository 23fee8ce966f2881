import type { SectionProps } from "../../data/route.ts";
import { may } from "../../data/session.ts";
import { RefusedPage } from "../refused.tsx";
import { AgentPage } from "./agent/agent.tsx";
import { AgentsPage } from "./agents.tsx";
import { NewAgentPage } from "./new-agent.tsx";

/** `agents`, `agents/~new`, which is nobody's slug, and `agents/{slug}/{tab}/…`. */
export function AgentsSection({ rest: [slug, tab, ...parts] }: SectionProps) {
  if (slug === undefined) return <AgentsPage />;
  if (slug === "~new") {
    return may("agent:write") ? <NewAgentPage /> : <RefusedPage title="New agent" needs="agent:write" />;
  }
  return <AgentPage key={slug} slug={slug} tab={tab} rest={parts} />;
}
