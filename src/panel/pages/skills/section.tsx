import type { SectionProps } from "../../data/route.ts";
import { may } from "../../data/session.ts";
import { RefusedPage } from "../refused.tsx";
import { NewSkillPage } from "./new-skill.tsx";
import { SkillPage } from "./skill.tsx";
import { SkillsPage } from "./skills.tsx";

/** `skills`, `skills/~new`, which is no slug, and `skills/{slug}/{tab}`. */
export function SkillsSection({ rest: [slug, tab] }: SectionProps) {
  if (slug === undefined) return <SkillsPage />;
  if (slug === "~new") {
    const needs = "skill.catalog:write";
    return may(needs) ? <NewSkillPage /> : <RefusedPage title="New skill" needs={needs} />;
  }
  return <SkillPage key={slug} name={slug} tab={tab} />;
}
