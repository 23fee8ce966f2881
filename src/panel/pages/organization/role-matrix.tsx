import { useSignal } from "@preact/signals";
import type { Role } from "../../../client/index.ts";
import { Select } from "../../ui/form/field.tsx";
import { byNoun } from "../permission-choice.tsx";

/**
 * All permissions by what they are about, with the roles that have each: a scrolling table whose head stays in sight. On
 * a narrow screen it shows one role, which a person chooses.
 */
export function RoleMatrix({ roles }: { roles: readonly [Role, ...Role[]] }) {
  const [owner] = roles;
  const chosen = useSignal(owner.key);
  const look = ({ key }: Role) => (key === chosen.value ? "role" : "role other");
  return (
    <div class="form">
      <div class="one-role">
        <Select
          label="Role"
          value={chosen.value}
          choices={roles.map(({ key, name }) => ({ value: key, label: name }))}
          onValue={(key) => {
            chosen.value = key;
          }}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keyboard. */}
      <section class="matrix-frame" aria-label="Permissions by role" tabIndex={0}>
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">Permission</th>
              {roles.map((role) => (
                <th key={role.key} scope="col" class={look(role)}>
                  {role.name}
                </th>
              ))}
            </tr>
          </thead>
          {byNoun(owner.permissions).map(([noun, permissions]) => (
            <tbody key={noun}>
              <tr>
                <th scope="rowgroup" colSpan={roles.length + 1}>
                  {noun}
                </th>
              </tr>
              {permissions.map((permission) => (
                <tr key={permission}>
                  <th scope="row">{permission}</th>
                  {roles.map((role) => (
                    <td key={role.key} class={look(role)}>
                      <Mark has={role.permissions.includes(permission)} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </section>
    </div>
  );
}

const Mark = ({ has }: { has: boolean }) =>
  has ? (
    <span role="img" aria-label="yes">
      ✓
    </span>
  ) : (
    <span role="img" aria-label="no" class="soft">
      –
    </span>
  );
