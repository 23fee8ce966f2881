import { api } from "../../data/api.ts";
import { useList } from "../../data/list.ts";
import { hrefOf, type SectionProps } from "../../data/route.ts";
import { may, orgSlug } from "../../data/session.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { ListPage } from "../../ui/list/list.tsx";
import { RefusedPage } from "../missing.tsx";
import { ImportSkills } from "./import-skills.tsx";
import { NewSkillPage } from "./new-skill.tsx";
import { SkillPage } from "./skill.tsx";

/** The catalogue of the organization. */
function SkillsPage() {
  const slug = orgSlug.value;
  const skills = useList("skills", () => api.listSkills({ orgSlug: slug }), [slug]);
  return (
    <ListPage
      title="Skills"
      lead="Instructions that agents can be given: what to do, when, and with which tools."
      of={skills}
      extra={
        <Allowed to="skill.catalog:write">
          <ImportSkills onImported={skills.reload} />
        </Allowed>
      }
      add={
        <Allowed to="skill.catalog:write">
          <a class="button primary" href={hrefOf(["skills", "~new"])}>
            New skill
          </a>
        </Allowed>
      }
      empty={[
        "No skills yet",
        "Write one, or import a zip in the form of Agent Skills. Then allow it in a workspace and turn it on.",
      ]}
      search={{
        textsOf: ({ name, description }) => [name, description],
        none: "No skill has these words in its name or description.",
      }}
      label="Skills"
      keyOf={(skill) => skill.slug}
      pathOf={(skill) => ["skills", skill.slug]}
      about={({ description }) => description}
      columns={[
        { title: "Skill", cell: ({ name }) => name },
        { title: "Category", cell: ({ category }) => category },
        { title: "Version", end: true, cell: ({ version }) => version },
      ]}
    />
  );
}

/** `skills`, `skills/~new`, which is no slug, and `skills/{slug}/{tab}`. */
export function SkillsSection({ rest: [slug, tab] }: SectionProps) {
  if (slug === undefined) return <SkillsPage />;
  if (slug !== "~new") return <SkillPage key={slug} name={slug} tab={tab} />;
  const needs = "skill.catalog:write";
  return may(needs) ? <NewSkillPage /> : <RefusedPage title="New skill" needs={needs} />;
}
