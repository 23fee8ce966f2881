import type { Skill } from "../../../client/index.ts";
import { api, isRefused } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { goTo } from "../../data/route.ts";
import { may, orgSlug } from "../../data/session.ts";
import { Allowed, Changeable } from "../../ui/allowed.tsx";
import { Button } from "../../ui/button.tsx";
import { DeleteButton } from "../../ui/dialog/buttons.tsx";
import { download } from "../../ui/download.ts";
import { SaveForm } from "../../ui/form/form.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { tellFailure } from "../../ui/toast.tsx";
import { NotFoundPage } from "../missing.tsx";
import { asBody, type SkillInput, skillFields } from "./skill-form.tsx";
import { Versions } from "./versions.tsx";
import { SkillWorkspaces } from "./workspaces.tsx";

/** A skill of the catalogue: its text, its versions, and its workspaces. */
export function SkillPage({ name, tab }: { name: string; tab: string | undefined }) {
  const path = { orgSlug: orgSlug.value, name };
  const read = useLoaded(() => api.getSkill(path), [name]);
  const skill = read.value.value;
  if (isRefused(read.error.value, 404)) return <NotFoundPage />;
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
      <WhenLoaded of={read}>
        {(known) => (
          <>
            {tab === undefined && <Editor skill={known} onChange={read.reload} />}
            {tab === "versions" && <Versions name={name} />}
            {tab === "workspaces" && <SkillWorkspaces name={name} />}
          </>
        )}
      </WhenLoaded>
    </Page>
  );
}

function Actions({ skill: { slug, name, version } }: { skill: Skill }) {
  const path = { orgSlug: orgSlug.value, name: slug };
  const save = async () =>
    download(`${slug}.json`, JSON.stringify(await api.exportSkill(path), null, 2), "application/json");
  return (
    <div class="actions">
      <span class="badge">{version}</span>
      <Button small onClick={() => void save().catch(tellFailure)}>
        Export
      </Button>
      <Allowed to="skill.catalog:write">
        <DeleteButton
          small
          name={name}
          kind="skill"
          word={slug}
          onConfirm={() => api.deleteSkill(path)}
          onDone={() => goTo(["skills"])}
        >
          All its versions go, and every agent that uses it loses it with the next turn.
        </DeleteButton>
      </Allowed>
    </div>
  );
}

function Editor({ skill, onChange }: { skill: Skill; onChange: () => Promise<void> }) {
  const stored: SkillInput = { ...skill, changelog: "" };
  const form = useForm<SkillInput>(`skill.${orgSlug.value}.${skill.slug}`, stored, async () => {
    await api.updateSkill({ orgSlug: orgSlug.value, name: skill.slug, body: asBody(form.values) });
    await onChange();
  });
  return (
    <Changeable to="skill.catalog:write">
      <SaveForm
        form={form}
        fields={[
          ...skillFields(true),
          {
            name: "changelog",
            label: "What changed",
            optional: true,
            hint: "For those who decide whether their agents take this version.",
            shown: form.dirty,
          },
        ]}
      />
    </Changeable>
  );
}
