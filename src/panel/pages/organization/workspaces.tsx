import { useSignal } from "@preact/signals";
import type { Workspace } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { WorkspaceCard } from "./workspace-card.tsx";
import { WorkspaceNameDialog } from "./workspace-name.tsx";

/** The workspaces of the organization, and the people of each. */
export function WorkspacesPage() {
  const slug = orgSlug.value;
  const { value, error, reload } = useLoaded(async () => {
    const [{ workspaces }, { members }] = await Promise.all([
      api.listWorkspaces({ orgSlug: slug }),
      api.listMembers({ orgSlug: slug }),
    ]);
    return { workspaces, members };
  }, [slug]);
  const adds = useSignal(false);
  const known = value.value;
  return (
    <Page
      title="Workspaces"
      lead="Each agent is in one workspace. Owners and Admins reach all of them; others reach those that they were given."
      actions={
        <Allowed to="org.member:manage">
          <Button
            look="primary"
            onClick={() => {
              adds.value = true;
            }}
          >
            New workspace
          </Button>
        </Allowed>
      }
    >
      <Failure error={error.value} retry={reload} />
      {!known && error.value === undefined && <Waiting />}
      {known?.workspaces.length === 0 && (
        <Empty title="No workspace within reach">
          <p>An Admin of the organization gives people their workspaces.</p>
        </Empty>
      )}
      {known?.workspaces.map((workspace: Workspace) => (
        <WorkspaceCard key={workspace.id} workspace={workspace} everybody={known.members} onChange={reload} />
      ))}
      {adds.value && (
        <WorkspaceNameDialog
          title="New workspace"
          action="Create"
          name=""
          save={async (name) => {
            await api.createWorkspace({ orgSlug: slug, body: { name } });
            await reload();
          }}
          onClose={() => {
            adds.value = false;
          }}
        />
      )}
    </Page>
  );
}
