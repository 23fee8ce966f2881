import type { AgentSkill } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { Button } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog/dialog.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { useChange, VersionDiff } from "../../../skills/versions.tsx";

interface Props {
  slug: string;
  skill: AgentSkill;
  onDone: () => void;
  onClose: () => void;
}

/** Shows what a newer version changes before the agent takes it. */
export function Upgrade({ slug, skill: { name, displayName, pinnedVersion, currentVersion }, onDone, onClose }: Props) {
  const change = useChange(name, pinnedVersion ?? "", currentVersion);
  const act = useAction(async () => {
    await api.upgradeAgentSkill({ slug, skillSlug: name });
    tell(`${displayName} is at ${currentVersion} now`);
    onDone();
    onClose();
  });
  return (
    <Dialog title={`Upgrade ${displayName}?`} wide onClose={onClose}>
      <VersionDiff change={change} />
      <Failure error={act.error} />
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" busy={act.busy} disabled={change.waiting} onClick={() => void act.run()}>
          Take {currentVersion}
        </Button>
      </div>
    </Dialog>
  );
}
