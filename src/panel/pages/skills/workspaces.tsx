import { api } from "../../data/api.ts";
import { useChoice } from "../../data/choice.ts";
import { useLoaded } from "../../data/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { Failure } from "../../ui/note.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";
import { Waiting } from "../../ui/waiting.tsx";

interface Place {
  id: string;
  name: string;
  allowed: boolean;
}

async function readPlaces(slug: string, skill: string): Promise<Place[]> {
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
  const { value, error, reload } = useLoaded(() => readPlaces(slug, name), [slug, name]);
  const places = value.value;
  return (
    <Card
      title="Where it is allowed"
      lead="Agents of these workspaces may turn it on. Taking one off holds from the next turn."
    >
      <Failure error={error.value} retry={reload} />
      {!places && error.value === undefined && <Waiting lines={2} />}
      {places?.map((place) => (
        <AllowedPlace key={place.id} skill={name} place={place} onChange={reload} />
      ))}
    </Card>
  );
}

function AllowedPlace({ skill, place, onChange }: { skill: string; place: Place; onChange: () => Promise<void> }) {
  const path = { orgSlug: orgSlug.value, workspaceId: place.id, name: skill };
  const change = async (allowed: boolean) => {
    if (allowed) await api.allowSkill(path);
    else await api.disallowSkill(path);
    tell(allowed ? `Allowed in ${place.name}` : `Not allowed in ${place.name} any more`);
  };
  const { chosen, choose } = useChoice(place.allowed, (allowed) => change(allowed).finally(onChange));
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={chosen}
        onChange={(event) => void choose(event.currentTarget.checked).catch(tellFailure)}
      />
      <span>{place.name}</span>
    </label>
  );
}
