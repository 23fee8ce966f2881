import type { AgentSkill, AgentSkillsChanged } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import type { Action } from "../../../../data/form/action.ts";
import { hrefOf } from "../../../../data/route.ts";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { DialogButton } from "../../../../ui/dialog/buttons.tsx";
import { Note } from "../../../../ui/note.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { RollBack, Upgrade } from "./other-version.tsx";
import { SkillValues } from "./skill-values.tsx";

interface Props {
  slug: string;
  skill: AgentSkill;
  writes: boolean;
  /** Changes one skill and then reads all again. */
  act: Action<[work: () => Promise<unknown>]>;
  onChange: () => Promise<void>;
}

/** A skill of an agent: whether it is on, its version, its problems, and its values. */
export function SkillCard({ slug, skill, writes, act, onChange }: Props) {
  const { name, displayName, description, requiredEnv } = skill;
  const turn = async () => {
    // Read again, so that the other skills stay as they are stored, and not as the page shows them.
    const { skills } = await api.listAgentSkills({ slug });
    const others = skills.filter((one) => one.enabled && one.name !== name).map((one) => one.name);
    const wanted = skill.enabled ? others : [...others, name];
    const changed = await api.setAgentSkills({ slug, body: { enabled: wanted } });
    tell([`${displayName} is ${skill.enabled ? "off" : "on"}`, ...toolWords(changed)].join(". "));
  };
  const load = () => api.autoLoadAgentSkill({ slug, skillSlug: name, body: { autoLoad: !skill.autoLoad } });
  return (
    <Card
      title={displayName}
      lead={
        <>
          <State skill={skill} /> {description}
        </>
      }
    >
      <Lacks slug={slug} skill={skill} />
      {skill.enabled && requiredEnv.length > 0 && <SkillValues slug={slug} skillSlug={name} onChange={onChange} />}
      {writes && (
        <div class="actions">
          <Button small busy={act.busy} look={skill.enabled ? undefined : "primary"} onClick={() => void act.run(turn)}>
            {skill.enabled ? "Turn off" : "Turn on"}
          </Button>
          {skill.hasUpdate && (
            <DialogButton
              small
              look="primary"
              dialog={(onClose) => <Upgrade slug={slug} skill={skill} onSaved={onChange} onClose={onClose} />}
            >
              Upgrade to {skill.currentVersion}
            </DialogButton>
          )}
          {skill.enabled && (
            <>
              <DialogButton
                small
                dialog={(onClose) => <RollBack slug={slug} skill={skill} onSaved={onChange} onClose={onClose} />}
              >
                Another version
              </DialogButton>
              <Button small busy={act.busy} aria-pressed={skill.autoLoad} onClick={() => void act.run(load)}>
                {skill.autoLoad ? "Only when it is needed" : "Put into every prompt"}
              </Button>
            </>
          )}
          <a href={hrefOf(["skills", name])}>In the catalogue</a>
        </div>
      )}
    </Card>
  );
}

function State({
  skill: { enabled, pinnedVersion, missingEnv, missingTools, autoLoad, allowed },
}: {
  skill: AgentSkill;
}) {
  if (!enabled) return <span class="badge">off</span>;
  const lacks = !allowed || missingEnv.length + missingTools.length > 0;
  return (
    <>
      <span class={`badge ${lacks ? "warn" : "good"}`}>{lacks ? "not usable yet" : `on, ${pinnedVersion}`}</span>
      {autoLoad && <span class="badge">in every prompt</span>}
    </>
  );
}

/** The reasons why the agent can't use the skill. */
function Lacks({ slug, skill: { enabled, allowed, missingEnv, missingTools } }: { slug: string; skill: AgentSkill }) {
  if (!enabled) return null;
  return (
    <>
      {!allowed && <Note look="warn">The agent's workspace does not allow it any more: it is not served.</Note>}
      {missingEnv.length > 0 && <Note look="warn">It lacks {missingEnv.join(", ")}: store it below.</Note>}
      {missingTools.length > 0 && (
        <Note look="warn">
          <p>
            It needs {missingTools.join(", ")}, which the agent can't have now.{" "}
            <a href={hrefOf(["agents", slug, "tools"])}>Look at the agent's tools</a>
          </p>
        </Note>
      )}
    </>
  );
}

function toolWords({ toolsChanged: { enabled, disabled } }: AgentSkillsChanged): string[] {
  return [
    ...(enabled.length > 0 ? [`With it: ${enabled.join(", ")}`] : []),
    ...(disabled.length > 0 ? [`Off with it: ${disabled.join(", ")}`] : []),
  ];
}
