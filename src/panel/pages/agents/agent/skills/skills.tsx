import { api } from "../../../../data/api.ts";
import { useList } from "../../../../data/list/list.ts";
import { hrefOf } from "../../../../data/route.ts";
import { may } from "../../../../data/session.ts";
import { useActs } from "../../../../ui/act-button.tsx";
import { List } from "../../../../ui/list/list.tsx";
import { Failure } from "../../../../ui/note.tsx";
import type { TabProps } from "../tab-props.ts";
import { SkillCard } from "./skill-card.tsx";

/** The skills available to the agent, enabled ones first. */
export function Skills({ agent: { slug } }: TabProps) {
  const skills = useList("usable", async () => {
    const all = (await api.listAgentSkills({ slug })).skills;
    const usable = all.filter(({ allowed, enabled }) => allowed || enabled);
    return { usable: usable.toSorted((one, other) => Number(other.enabled) - Number(one.enabled)) };
  }, [slug]);
  // One change at a time for all cards, since all enabled skills are stored as one list.
  const act = useActs(skills.reload);
  return (
    <>
      <Failure error={act.error} />
      <List
        of={skills}
        empty={[
          "No skill is allowed here",
          "A skill of the catalogue is first allowed in the agent's workspace, and then turned on here.",
        ]}
        next={
          <a class="button" href={hrefOf(["skills"])}>
            Open the catalogue
          </a>
        }
      >
        {(items) =>
          items.map((skill) => (
            <SkillCard
              key={skill.name}
              slug={slug}
              skill={skill}
              writes={may("agent.skill:write")}
              act={act}
              onChange={skills.reload}
            />
          ))
        }
      </List>
    </>
  );
}
