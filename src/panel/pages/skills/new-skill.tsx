import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { goTo } from "../../data/route.ts";
import { may, orgSlug } from "../../data/session.ts";
import { SendForm } from "../../ui/form/form.tsx";
import { Page } from "../../ui/page.tsx";
import { tell } from "../../ui/toast.tsx";
import { asBody, skillFields, type Written } from "./skill-form.tsx";

const blank: Written = {
  ...{ name: "", category: "", description: "", content: "", changelog: "" },
  ...{ requiredTools: [], requiredEnv: [] },
};

/** Creates a skill, and allows it in the only workspace, if there is one only. */
export function NewSkillPage() {
  const path = { orgSlug: orgSlug.value };
  const workspaces = useLoaded(async () => (await api.listWorkspaces(path)).workspaces, []);
  const form = useForm<Written>("new-skill", blank, async () => {
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
