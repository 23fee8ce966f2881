import type { SkillImport, SkillImportAnswer } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useList } from "../../data/list/list.ts";
import { useLoaded } from "../../data/list/load.ts";
import { goTo, hrefOf, type SectionProps } from "../../data/route.ts";
import { may, orgSlug } from "../../data/session.ts";
import { jsonIn } from "../../data/text.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { ImportButton } from "../../ui/dialog/import-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { SendForm } from "../../ui/form/form.tsx";
import { ListPage } from "../../ui/list/list.tsx";
import { Page } from "../../ui/page.tsx";
import { tell } from "../../ui/toast.tsx";
import { RefusedPage } from "../missing.tsx";
import { SkillPage } from "./skill.tsx";
import { asBody, type SkillInput, skillFields } from "./skill-form.tsx";

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

/** `skills`, `skills/~new` (never a slug), and `skills/{slug}/{tab}`. */
export function SkillsSection({ rest: [slug, tab] }: SectionProps) {
  if (slug === undefined) return <SkillsPage />;
  if (slug !== "~new") return <SkillPage key={slug} name={slug} tab={tab} />;
  const needs = "skill.catalog:write";
  return may(needs) ? <NewSkillPage /> : <RefusedPage title="New skill" needs={needs} />;
}

/** Imports skills from a file: a zip of folders, or an export. */
function ImportSkills({ onImported }: { onImported: () => void }) {
  const send = async (file: File) => {
    const body = file.name.endsWith(".json")
      ? (jsonIn(await file.text(), file.name) as SkillImport)
      : new Blob([file], { type: "application/zip" });
    const answer = await api.importSkills({ orgSlug: orgSlug.value, body });
    onImported();
    return answer;
  };
  return (
    <ImportButton label="Import" fileLabel="File with skills" accept=".zip,.json" send={send} title={() => "Imported"}>
      {(answer) => <Outcome answer={answer} />}
    </ImportButton>
  );
}

const Outcome = ({ answer: { created, updated, skipped, ignored } }: { answer: SkillImportAnswer }) => (
  <>
    <Facts
      of={[
        ["New", created],
        ["With a new version", updated],
        ["The same already", skipped],
      ]}
    />
    {ignored.length > 0 && (
      <p class="soft">
        Skills have no use for {ignored.length === 1 ? "this file" : "these files"}: {ignored.join(", ")}
      </p>
    )}
  </>
);

const blank: SkillInput = {
  name: "",
  category: "",
  description: "",
  content: "",
  changelog: "",
  requiredTools: [],
  requiredEnv: [],
};

/** Creates a skill, and allows it in the workspace if there is only one. */
function NewSkillPage() {
  const path = { orgSlug: orgSlug.value };
  const workspaces = useLoaded(async () => (await api.listWorkspaces(path)).workspaces, []);
  const form = useForm<SkillInput>("new-skill", blank, async () => {
    const { name } = form.values;
    const skill = await api.createSkill({ ...path, body: { name, ...asBody(form.values) } });
    const [only, ...others] = workspaces.value.value ?? [];
    const allows = only !== undefined && others.length === 0 && may("workspace.assignment:manage");
    if (allows) await api.allowSkill({ ...path, workspaceId: only.id, name: skill.slug });
    tell(allows ? `${name} is there, and allowed in ${only.name}` : `${name} is there. Allow it in a workspace next.`);
    goTo(["skills", skill.slug, ...(allows ? [] : ["workspaces"])]);
  });
  return (
    <Page title="New skill">
      <SendForm form={form} fields={skillFields(false)} action="Create" />
    </Page>
  );
}
