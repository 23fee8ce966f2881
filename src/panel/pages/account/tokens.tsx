import { useSignal } from "@preact/signals";
import type { CreatedPersonalToken } from "../../../client/index.ts";
import { account, api, serverUrl } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { isPlatformAdmin, organization, orgSlug, type Permission } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { DeleteButton, DialogButton } from "../../ui/dialog/buttons.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { choicesOf } from "../../ui/form/choices.ts";
import { type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { Table } from "../../ui/list/table.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Code } from "../../ui/text/code.tsx";
import { ShownOnce } from "../../ui/text/shown-once.tsx";
import { Time } from "../../ui/text/time.tsx";
import { PermissionChoice } from "../permission-choice.tsx";

/** The person's tokens for programs. */
export function Tokens() {
  const tokens = useLoaded(async () => (await account.listPersonalTokens()).tokens, []);
  return (
    <Card title="Tokens" lead="A program with a token acts as you in one organization, as far as your role there goes.">
      <WhenLoaded of={tokens} lines={1}>
        {(all) =>
          all.length > 0 && (
            <Table
              label="Tokens"
              rows={all}
              keyOf={({ id }) => id}
              about={({ prefix }) => <code>{prefix}…</code>}
              columns={[
                { title: "Token", cell: ({ name }) => name },
                { title: "Works in", cell: (token) => token.organization?.name ?? "every organization" },
                { title: "Permissions", cell: ({ permissions }) => permissions?.length ?? "all of yours" },
                { title: "Last used", cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : "never") },
                { title: "Expires", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
              ]}
              actions={({ id, name }) => (
                <DeleteButton
                  small
                  name={name}
                  kind="token"
                  onConfirm={() => account.deletePersonalToken({ id })}
                  onDone={tokens.reload}
                >
                  Programs with this token are refused from then on.
                </DeleteButton>
              )}
            />
          )
        }
      </WhenLoaded>
      <div class="actions">
        <DialogButton dialog={(onClose) => <NewToken onCreated={tokens.reload} onClose={onClose} />}>
          New token
        </DialogButton>
      </div>
    </Card>
  );
}

interface Values {
  name: string;
  scope: "organization" | "installation";
  days: string;
  narrow: boolean;
  permissions: readonly Permission[];
}

const blank: Values = { name: "", scope: "organization", days: "90", narrow: false, permissions: [] };

/** The person's permissions here; for a Platform Admin, those of Owners. */
async function readOwn(): Promise<readonly Permission[]> {
  if (!isPlatformAdmin.value) return organization.value?.permissions ?? [];
  const { roles } = await api.listRoles({ orgSlug: orgSlug.value });
  return roles[0]?.permissions ?? [];
}

function NewToken({ onCreated, onClose }: { onCreated: () => void; onClose: () => void }) {
  const made = useSignal<CreatedPersonalToken | null>(null);
  const own = useLoaded(readOwn, []);
  const form = useForm<Values>(null, blank, async () => {
    const { name, scope, days, narrow, permissions } = form.values;
    const expiresAt = new Date(Date.now() + Number(days) * 86_400_000).toISOString();
    const body = {
      ...{ name, scope },
      ...(scope === "organization" && { expiresAt }),
      ...(narrow && { permissions: [...permissions] }),
    };
    made.value = await api.createPersonalToken({ body });
    onCreated();
  });
  if (made.value) return <Made made={made.value} onClose={onClose} />;
  const { scope, narrow } = form.values;
  const fields: FieldTable<Values> = [
    { name: "name", label: "Name", hint: "Its purpose.", required: true, autofocus: true, maxLength: 64 },
    {
      name: "scope",
      label: "Works in",
      kind: "choice",
      choices: choicesOf({
        organization: organization.value?.name ?? "",
        installation: "Every organization, for 24 hours",
      }),
      shown: isPlatformAdmin.value,
    },
    {
      name: "days",
      label: "Lives for",
      path: "expiresAt",
      kind: "choice",
      choices: choicesOf({ "7": "7 days", "30": "30 days", "90": "90 days", "365": "One year" }),
      shown: scope === "organization",
    },
    { name: "narrow", label: "Only some permissions", hint: "Off: all that you may do.", kind: "switch" },
    {
      name: "permissions",
      label: "Permissions",
      kind: "custom",
      control: (control) => <PermissionChoice permissions={own.value.value ?? []} {...control} />,
      shown: narrow,
    },
  ];
  return <FormDialog title="New token" action="Create" form={form} fields={fields} onClose={onClose} />;
}

function Made({
  made: { name, token, organization: place },
  onClose,
}: {
  made: CreatedPersonalToken;
  onClose: () => void;
}) {
  const header = place ? "" : ` \\\n  -H 'X-Organization: ${orgSlug.value}'`;
  return (
    <Dialog title={`The token ${name}`} close="Done" onClose={onClose}>
      <ShownOnce label="Token" text={token} />
      <Code
        label="A first call"
        text={`curl ${serverUrl}/api/instances \\\n  -H 'Authorization: Bearer ${token}'${header}`}
      />
    </Dialog>
  );
}
