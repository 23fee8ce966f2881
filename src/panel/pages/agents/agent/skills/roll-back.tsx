import { useSignal } from "@preact/signals";
import type { AgentSkill } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { orgSlug } from "../../../../data/session.ts";
import { Button } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog/dialog.tsx";
import { Choice } from "../../../../ui/form/field.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { useChange, VersionDiff } from "../../../skills/versions.tsx";

interface Props {
  slug: string;
  skill: AgentSkill;
  onDone: () => void;
  onClose: () => void;
}

/** Has the agent use an earlier version, once it is seen what that changes. */
export function RollBack({ slug, skill: { name, displayName, pinnedVersion }, onDone, onClose }: Props) {
  const versions = useLoaded(
    async () => (await api.listSkillVersions({ orgSlug: orgSlug.value, name })).versions,
    [name],
  );
  const wanted = useSignal("");
  const change = useChange(name, pinnedVersion ?? "", wanted.value);
  const act = useAction(async () => {
    await api.rollBackAgentSkill({ slug, skillSlug: name, body: { versionId: wanted.value } });
    tell(`${displayName} is at ${wanted.value} now`);
    onDone();
    onClose();
  });
  const others = versions.value.value?.filter(({ version }) => version !== pinnedVersion) ?? [];
  return (
    <Dialog title={`Another version of ${displayName}`} wide onClose={onClose}>
      <Choice
        label="Version"
        value={wanted.value}
        hint={`The agent uses ${pinnedVersion} now.`}
        choices={[
          { value: "", label: "Choose one" },
          ...others.map(({ version, changelog }) => ({
            value: version,
            label: changelog ? `${version} · ${changelog}` : version,
          })),
        ]}
        onValue={(version) => {
          wanted.value = version;
        }}
      />
      <VersionDiff change={change} />
      <Failure error={act.error ?? versions.error.value} />
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="primary"
          busy={act.busy}
          disabled={wanted.value === "" || change.waiting}
          onClick={() => void act.run()}
        >
          Use this version
        </Button>
      </div>
    </Dialog>
  );
}
