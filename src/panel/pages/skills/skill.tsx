import type { Skill } from "../../../client/index.ts";
import { api, isRefused } from "../../data/api.ts";
import { useForm } from "../../data/form.ts";
import { useLoaded } from "../../data/load.ts";
import { goTo } from "../../data/route.ts";
import { may, orgSlug } from "../../data/session.ts";
import { Allowed, Changeable } from "../../ui/allowed.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/dialog/confirm-button.tsx";
import { download } from "../../ui/download.ts";
import { TextField } from "../../ui/form/field.tsx";
import { SaveForm } from "../../ui/form/save-form.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { NotFoundPage } from "../not-found.tsx";
import { asBody, SkillFields, type Written } from "./skill-form.tsx";
import { Versions } from "./versions.tsx";
import { SkillWorkspaces } from "./workspaces.tsx";

/** A skill of the catalogue: its text, its versions, and where it is allowed. */
export function SkillPage({ name, tab }: { name: string; tab: string | undefined }) {
  const path = { orgSlug: orgSlug.value, name };
  const { value, error, reload } = useLoaded(() => api.getSkill(path), [name]);
  const skill = value.value;
  if (isRefused(error.value, 404)) return <NotFoundPage />;
  return (
    <Page title={skill?.name ?? name} lead={skill?.description} actions={skill && <Actions skill={skill} />}>
      <Tabs
        label="Parts of the skill"
        path={["skills", name]}
        current={tab}
        tabs={[
          { name: undefined, title: "Text" },
          { name: "versions", title: "Versions" },
          ...(may("workspace.assignment:manage") ? [{ name: "workspaces", title: "Workspaces" }] : []),
        ]}
      />
      <Failure error={error.value} retry={reload} />
      {!skill && error.value === undefined && <Waiting />}
      {skill && tab === undefined && <Editor skill={skill} onChange={reload} />}
      {skill && tab === "versions" && <Versions name={name} />}
      {skill && tab === "workspaces" && <SkillWorkspaces name={name} />}
    </Page>
  );
}

function Actions({ skill: { slug, name, version } }: { skill: Skill }) {
  const path = { orgSlug: orgSlug.value, name: slug };
  const save = async () =>
    download(`${slug}.json`, JSON.stringify(await api.exportSkill(path), null, 2), "application/json");
  const remove = async () => {
    await api.deleteSkill(path);
    tell(`${name} is deleted`);
    goTo(["skills"]);
  };
  return (
    <div class="actions">
      <span class="badge">{version}</span>
      <Button small onClick={() => void save().catch(tellFailure)}>
        Export
      </Button>
      <Allowed to="skill.catalog:write">
        <ConfirmButton
          small
          label="Delete"
          title={`Delete ${name}?`}
          action="Delete the skill"
          word={slug}
          onConfirm={remove}
        >
          All its versions go, and every agent that uses it loses it with the next turn.
        </ConfirmButton>
      </Allowed>
    </div>
  );
}

function Editor({ skill, onChange }: { skill: Skill; onChange: () => Promise<void> }) {
  const stored: Written = { ...skill, changelog: "" };
  const form = useForm<Written>(`skill.${orgSlug.value}.${skill.slug}`, stored, async () => {
    await api.updateSkill({ orgSlug: orgSlug.value, name: skill.slug, body: asBody(form.values) });
    await onChange();
  });
  return (
    <Changeable to="skill.catalog:write">
      <SaveForm form={form}>
        <SkillFields form={form} named />
        {form.dirty && (
          <TextField
            label="What changed"
            optional
            hint="For those who decide whether their agents take this version."
            value={form.values.changelog}
            problem={form.problem("changelog")}
            onValue={(changelog) => form.set({ changelog })}
          />
        )}
      </SaveForm>
    </Changeable>
  );
}
