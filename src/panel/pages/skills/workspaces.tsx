import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/list/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { StoredCheck } from "../../ui/form/check.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { tell } from "../../ui/toast.tsx";

interface WorkspaceRow {
  id: string;
  name: string;
  allowed: boolean;
}

async function readPlaces(slug: string, skill: string): Promise<WorkspaceRow[]> {
  const { workspaces } = await api.listWorkspaces({ orgSlug: slug });
  return Promise.all(
    workspaces.map(async ({ id, name }) => {
      const { skills } = await api.listAllowedSkills({ orgSlug: slug, workspaceId: id });
      return { id, name, allowed: skills.includes(skill) };
    }),
  );
}

/** The workspaces whose agents may use a skill. */
export function SkillWorkspaces({ name }: { name: string }) {
  const slug = orgSlug.value;
  const places = useLoaded(() => readPlaces(slug, name), [slug, name]);
  const change = async ({ id, name: workspace }: WorkspaceRow, allowed: boolean) => {
    const path = { orgSlug: slug, workspaceId: id, name };
    if (allowed) await api.allowSkill(path);
    else await api.disallowSkill(path);
    tell(allowed ? `Allowed in ${workspace}` : `Not allowed in ${workspace} any more`);
  };
  return (
    <Card
      title="Where it is allowed"
      lead="Agents of these workspaces may turn it on. Taking one off holds from the next turn."
    >
      <WhenLoaded of={places} lines={2}>
        {(all) =>
          all.map((place) => (
            <StoredCheck
              key={place.id}
              stored={place.allowed}
              store={(allowed) => change(place, allowed).finally(places.reload)}
            >
              {place.name}
            </StoredCheck>
          ))
        }
      </WhenLoaded>
    </Card>
  );
}
