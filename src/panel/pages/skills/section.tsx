import type { SectionProps } from "../../data/route.ts";
import { NewSkillPage } from "./new-skill.tsx";
import { SkillPage } from "./skill.tsx";
import { SkillsPage } from "./skills.tsx";

/** `skills`, `skills/~new`, which is no slug, and `skills/{slug}/{tab}`. */
export function SkillsSection({ rest: [slug, tab] }: SectionProps) {
  if (slug === undefined) return <SkillsPage />;
  if (slug === "~new") return <NewSkillPage />;
  return <SkillPage key={slug} name={slug} tab={tab} />;
}
