import type { User } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { filled, filtersOf } from "../../data/list/filters.ts";
import { useList } from "../../data/list/list.ts";
import { user as me } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { DeleteButton, DialogButton } from "../../ui/dialog/buttons.tsx";
import { Filters } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list.tsx";
import { Impersonate } from "./impersonate.tsx";
import { NewPassword } from "./new-password.tsx";
import { UserDialog } from "./user-dialog.tsx";

/** All users of the installation; the address contains the search. */
export function UsersPage() {
  const filters = filtersOf("users", ["search"]);
  const { search } = filters.values;
  const users = useList(
    "users",
    (part, signal) => api.listUsers({ ...part, ...filled({ search }) }, { signal }),
    [search],
    { place: filters.place },
  );
  return (
    <ListPage
      title="Users"
      lead="Everybody who has an account in this installation."
      head={
        <Filters
          of={filters}
          look="narrow"
          fields={[{ name: "search", label: "Search", kind: "search", placeholder: "Part of an e-mail or a name" }]}
        />
      }
      of={users}
      empty={["Nobody was found", "Another part of the e-mail or the name may do."]}
      newer="Earlier"
      older="Later"
      add={{ label: "New user" }}
      dialog={(edited, props) => <UserDialog user={edited} {...props} />}
      label="Users"
      keyOf={({ id }) => id}
      about={({ email }) => email}
      columns={[
        { title: "Person", cell: ({ id, name }) => (id === me.value?.id ? `${name} (you)` : name) },
        { title: "Organizations", cell: organizationsOf },
        { title: "State", cell: (one) => <State of={one} /> },
      ]}
      actions={(one, edit) => (
        <>
          <Button small onClick={() => edit(one)}>
            Edit
          </Button>
          {one.id !== me.value?.id && <ActionsOnOthers user={one} onChange={users.reload} />}
        </>
      )}
    />
  );
}

const organizationsOf = ({ organizations }: User) =>
  organizations.length === 0 ? "none" : organizations.map(({ name, roleKey }) => `${name} (${roleKey})`).join(", ");

const State = ({ of: { isPlatformAdmin, active } }: { of: User }) => (
  <span class="badges">
    {isPlatformAdmin && <span class="badge good">Platform Admin</span>}
    {active ? !isPlatformAdmin && "active" : <span class="badge warn">inactive</span>}
  </span>
);

/** The actions that a person has on other accounts alone. */
function ActionsOnOthers({ user, onChange }: { user: User; onChange: () => Promise<void> }) {
  const { id, name, active, isPlatformAdmin } = user;
  return (
    <>
      <DialogButton small dialog={(onClose) => <NewPassword user={user} onClose={onClose} />}>
        New password
      </DialogButton>
      {active && !isPlatformAdmin && (
        <DialogButton small dialog={(onClose) => <Impersonate user={user} onClose={onClose} />}>
          See as
        </DialogButton>
      )}
      <DeleteButton small name={name} kind="user" onConfirm={() => api.deleteUser({ id })} onDone={onChange}>
        {name} can't sign in any more and belongs to no organization. What {name} made stays.
      </DeleteButton>
    </>
  );
}
