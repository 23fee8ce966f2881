import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { hrefOf } from "../../data/route.ts";
import { orgSlug } from "../../data/session.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Filtered } from "../../ui/form/filtered.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { ImportSkills } from "./import-skills.tsx";

/** The catalogue of the organization. */
export function SkillsPage() {
  const slug = orgSlug.value;
  const { value, error, reload } = useLoaded(async () => (await api.listSkills({ orgSlug: slug })).skills, [slug]);
  const skills = value.value;
  const newSkill = (
    <a class="button primary" href={hrefOf(["skills", "~new"])}>
      New skill
    </a>
  );
  return (
    <Page
      title="Skills"
      lead="Instructions that agents can be given: what to do, when, and with which tools."
      actions={
        <Allowed to="skill.catalog:write">
          <div class="actions">
            <ImportSkills onImported={reload} />
            {skills?.length !== 0 && newSkill}
          </div>
        </Allowed>
      }
    >
      <Failure error={error.value} retry={reload} />
      {!skills && error.value === undefined && <Waiting />}
      {skills?.length === 0 && (
        <Empty title="No skills yet">
          <p>Write one, or import a zip in the form of Agent Skills. Then allow it in a workspace and turn it on.</p>
          <Allowed to="skill.catalog:write">{newSkill}</Allowed>
        </Empty>
      )}
      {skills && skills.length > 0 && (
        <Filtered
          items={skills}
          textsOf={({ name, description }) => [name, description]}
          none="No skill has these words in its name or description."
        >
          {(found) => (
            <Table
              label="Skills"
              rows={found}
              keyOf={(skill) => skill.slug}
              pathOf={(skill) => ["skills", skill.slug]}
              about={({ description }) => description}
              columns={[
                { title: "Skill", cell: ({ name }) => name },
                { title: "Category", cell: ({ category }) => category },
                { title: "Version", end: true, cell: ({ version }) => version },
              ]}
            />
          )}
        </Filtered>
      )}
    </Page>
  );
}
