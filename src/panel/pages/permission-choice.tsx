import type { Permission } from "../data/session.ts";
import { Check } from "../ui/form/check.tsx";
import type { Control } from "../ui/form/form.tsx";

/** Permissions by what they are about: `agent.secret` has `agent.secret:read` and `agent.secret:write`. */
export const byNoun = (permissions: readonly Permission[]) => [
  ...Map.groupBy([...permissions].sort(), (permission) => permission.split(":")[0] ?? ""),
];

type Props = Control<readonly Permission[]> & { permissions: readonly Permission[] };

/** A box for each permission. */
export const PermissionChoice = ({ permissions, value: chosen, problem, onValue }: Props) => (
  <fieldset class="bare form">
    <legend class="label">Permissions</legend>
    {byNoun(permissions).map(([noun, some]) => (
      <div key={noun} class="permission-row">
        {some.map((permission) => (
          <Check
            key={permission}
            checked={chosen.includes(permission)}
            onChecked={(checked) =>
              onValue(checked ? [...chosen, permission] : chosen.filter((one) => one !== permission))
            }
          >
            {permission}
          </Check>
        ))}
      </div>
    ))}
    {problem !== undefined && <p class="wrong">{problem}</p>}
  </fieldset>
);
