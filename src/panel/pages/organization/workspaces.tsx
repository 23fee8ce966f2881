import { api } from "../../data/api.ts";
import { useList } from "../../data/list/list.ts";
import { orgSlug } from "../../data/session.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { DialogButton } from "../../ui/dialog/buttons.tsx";
import { ListPage } from "../../ui/list/list.tsx";
import { readRoles } from "./stored-roles.ts";
import { WorkspaceCard, WorkspaceDialog } from "./workspace-card.tsx";

/** The workspaces of the organization, with their members. */
export function WorkspacesPage() {
  const slug = orgSlug.value;
  const known = useList("workspaces", async () => {
    const path = { orgSlug: slug };
    const [{ workspaces }, { members }, roles] = await Promise.all([
      api.listWorkspaces(path),
      api.listMembers(path),
      readRoles(slug),
    ]);
    return { workspaces: workspaces.map((workspace) => ({ workspace, everybody: members, roles })) };
  }, [slug]);
  const create = (name: string) => api.createWorkspace({ orgSlug: slug, body: { name } });
  return (
    <ListPage
      title="Workspaces"
      lead="Each agent is in one workspace. Owners and Admins reach all of them; others reach those that they were given."
      extra={
        <Allowed to="org.member:manage">
          <DialogButton
            look="primary"
            dialog={(onClose) => (
              <WorkspaceDialog
                title="New workspace"
                action="Create"
                name=""
                save={create}
                onSaved={known.reload}
                onClose={onClose}
              />
            )}
          >
            New workspace
          </DialogButton>
        </Allowed>
      }
      of={known}
      empty={["No workspace within reach", "An Admin of the organization gives people their workspaces."]}
    >
      {(items) => items.map((item) => <WorkspaceCard key={item.workspace.id} {...item} onChange={known.reload} />)}
    </ListPage>
  );
}
