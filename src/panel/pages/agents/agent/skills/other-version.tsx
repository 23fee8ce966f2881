import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { AgentSkill } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useAction } from "../../../../data/form/action.ts";
import { useLoaded } from "../../../../data/list/load.ts";
import { orgSlug } from "../../../../data/session.ts";
import { Button } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog/dialog.tsx";
import { SignalChoice } from "../../../../ui/form/field.tsx";
import type { DialogProps } from "../../../../ui/form/form.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { useChange, VersionDiff } from "../../../skills/versions.tsx";

interface Props extends DialogProps {
  slug: string;
  skill: AgentSkill;
}

/** Upgrades the agent's skill, after showing the changes. */
export function Upgrade({ slug, skill, onSaved, onClose }: Props) {
  const { name, displayName, currentVersion } = skill;
  return (
    <VersionDialog
      title={`Upgrade ${displayName}?`}
      action={`Take ${currentVersion}`}
      wanted={currentVersion}
      take={() => api.upgradeAgentSkill({ slug, skillSlug: name })}
      {...{ skill, onSaved, onClose }}
    />
  );
}

/** Rolls the agent's skill back, after showing the changes. */
export function RollBack({ slug, skill, onSaved, onClose }: Props) {
  const { name, displayName, pinnedVersion } = skill;
  const versions = useLoaded(
    async () => (await api.listSkillVersions({ orgSlug: orgSlug.value, name })).versions,
    [name],
  );
  const wanted = useSignal("");
  const others = versions.value.value?.filter(({ version }) => version !== pinnedVersion) ?? [];
  return (
    <VersionDialog
      title={`Another version of ${displayName}`}
      action="Use this version"
      wanted={wanted.value}
      take={() => api.rollBackAgentSkill({ slug, skillSlug: name, body: { versionId: wanted.value } })}
      problem={versions.error.value}
      {...{ skill, onSaved, onClose }}
    >
      <SignalChoice
        label="Version"
        of={wanted}
        hint={`The agent uses ${pinnedVersion} now.`}
        choices={[
          { value: "", label: "Choose one" },
          ...others.map(({ version, changelog }) => ({
            value: version,
            label: changelog ? `${version} · ${changelog}` : version,
          })),
        ]}
      />
    </VersionDialog>
  );
}

interface VersionProps extends DialogProps {
  title: string;
  /** The text of the button. */
  action: string;
  skill: AgentSkill;
  /** Empty: no version chosen yet. */
  wanted: string;
  take: () => Promise<unknown>;
  problem?: unknown;
  /** Shown above the changes. */
  children?: ComponentChildren;
}

function VersionDialog({ title, action, skill, wanted, take, problem, onSaved, onClose, children }: VersionProps) {
  const { name, displayName, pinnedVersion } = skill;
  const change = useChange(name, pinnedVersion ?? "", wanted);
  const act = useAction(async () => {
    await take();
    tell(`${displayName} is at ${wanted} now`);
    void onSaved();
    onClose();
  });
  return (
    <Dialog title={title} wide onClose={onClose}>
      {children}
      <VersionDiff change={change} />
      <Failure error={act.error ?? problem} />
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="primary"
          busy={act.busy}
          disabled={wanted === "" || change.waiting}
          onClick={() => void act.run()}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
