import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { hrefOf } from "../../../../data/route.ts";
import { may } from "../../../../data/session.ts";
import { Empty } from "../../../../ui/empty.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { Waiting } from "../../../../ui/waiting.tsx";
import type { TabProps } from "../tab-props.ts";
import { SkillCard } from "./skill-card.tsx";

/** The skills that the agent may have, those that are on first. */
export function Skills({ agent: { slug } }: TabProps) {
  const { value, error, reload } = useLoaded(async () => (await api.listAgentSkills({ slug })).skills, [slug]);
  const skills = value.value?.filter(({ allowed, enabled }) => allowed || enabled);
  // One change at a time for all cards: which skills are on is stored as one list.
  const act = useAction(async (work: () => Promise<unknown>) => {
    await work();
    await reload();
  });
  const sorted = skills?.toSorted((one, other) => Number(other.enabled) - Number(one.enabled));
  return (
    <>
      <Failure error={error.value} retry={reload} />
      <Failure error={act.error} />
      {!skills && error.value === undefined && <Waiting />}
      {sorted?.length === 0 && (
        <Empty title="No skill is allowed here">
          <p>A skill of the catalogue is first allowed in the agent's workspace, and then turned on here.</p>
          <a class="button" href={hrefOf(["skills"])}>
            Open the catalogue
          </a>
        </Empty>
      )}
      {sorted?.map((skill) => (
        <SkillCard
          key={skill.name}
          slug={slug}
          skill={skill}
          writes={may("agent.skill:write")}
          act={act}
          onChange={reload}
        />
      ))}
    </>
  );
}
