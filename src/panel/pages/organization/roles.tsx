import type { Role } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useList } from "../../data/list/list.ts";
import { orgSlug, type Permission } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { DeleteButton } from "../../ui/dialog/buttons.tsx";
import { type DialogProps, type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { ListPage } from "../../ui/list/list.tsx";
import { Table } from "../../ui/list/table.tsx";
import { PermissionChoice } from "../permission-choice.tsx";
import { RoleMatrix } from "./role-matrix.tsx";

/** The organization's own roles, and the permissions of all roles. */
export function RolesPage() {
  const slug = orgSlug.value;
  const roles = useList("roles", () => api.listRoles({ orgSlug: slug }), [slug]);
  const all = roles.value.value?.items[0]?.permissions ?? [];
  return (
    <ListPage
      title="Roles"
      lead="What members may do. An organization can have roles of its own beside the built-in ones."
      of={roles}
      empty="There is no role."
      add={{ label: "New role", to: "org.role:manage" }}
      dialog={(role, props) => <RoleDialog role={role} all={all} {...props} />}
    >
      {(items, edit) => {
        const [owner, ...others] = items;
        const own = items.filter(({ builtin }) => !builtin);
        return (
          <>
            {own.length > 0 && <OwnRoles roles={own} edit={edit} onChange={roles.reload} />}
            {owner && <RoleMatrix roles={[owner, ...others]} />}
          </>
        );
      }}
    </ListPage>
  );
}

interface OwnRolesProps {
  roles: readonly Role[];
  edit: (role: Role) => void;
  onChange: () => unknown;
}

const OwnRoles = ({ roles, edit, onChange }: OwnRolesProps) => (
  <Table
    label="Own roles"
    rows={roles}
    keyOf={({ key }) => key}
    about={({ key }) => <code>{key}</code>}
    columns={[
      { title: "Role", cell: ({ name }) => name },
      { title: "Workspaces", cell: ({ allWorkspaces }) => (allWorkspaces ? "all" : "those that were given") },
      { title: "Members", end: true, cell: ({ holders }) => holders },
    ]}
    actionsTo="org.role:manage"
    actions={(role) => (
      <>
        <Button small onClick={() => edit(role)}>
          Edit
        </Button>
        <DeleteButton
          small
          name={role.name}
          kind="role"
          onConfirm={() => api.deleteRole({ orgSlug: orgSlug.value, key: role.key })}
          onDone={onChange}
        >
          Invitations that offer it end. While members have the role, it can't be deleted.
        </DeleteButton>
      </>
    )}
  />
);

/** The permissions that no own role has (docs/managed.md). */
const withheld: readonly Permission[] = ["policy:manage", "org.key:manage", "org.role:manage", "org:write"];

interface Values {
  key: string;
  name: string;
  allWorkspaces: boolean;
  permissions: readonly Permission[];
}

const blank: Values = { key: "", name: "", allWorkspaces: false, permissions: [] };

interface RoleDialogProps extends DialogProps {
  /** Null for a new role. */
  role: Role | null;
  /** The permissions of Owners. */
  all: readonly Permission[];
}

function RoleDialog({ role, all, ...props }: RoleDialogProps) {
  const { key, name, allWorkspaces, permissions } = role ?? blank;
  const form = useForm<Values>(null, { key, name, allWorkspaces, permissions }, async () => {
    const { key: given, permissions: chosen, ...rest } = form.values;
    const body = { ...rest, permissions: [...chosen] };
    if (role) await api.updateRole({ orgSlug: orgSlug.value, key, body });
    else await api.createRole({ orgSlug: orgSlug.value, body: { key: given, ...body } });
  });
  const fields: FieldTable<Values> = [
    { name: "name", label: "Name", required: true, autofocus: true, maxLength: 64 },
    {
      name: "key",
      label: "Key",
      hint: "How the API names the role: lower-case letters, digits and dashes. It stays.",
      required: true,
      pattern: "[a-z][a-z0-9\\-]{1,39}",
      autocapitalize: "none",
      spellcheck: false,
      shown: role === null,
    },
    {
      name: "allWorkspaces",
      label: "Reaches every workspace",
      hint: "Off: members with this role reach the workspaces that they are given.",
      kind: "switch",
    },
    {
      name: "permissions",
      label: "Permissions",
      kind: "custom",
      control: (control) => (
        <PermissionChoice permissions={all.filter((permission) => !withheld.includes(permission))} {...control} />
      ),
    },
  ];
  const title = role ? role.name : "New role";
  return <FormDialog wide title={title} action={role ? "Save" : "Create"} form={form} fields={fields} {...props} />;
}
