import { useSignal } from "@preact/signals";
import type { ProviderRole } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/list/load.ts";
import { hrefOf } from "../../../../data/route.ts";
import { may } from "../../../../data/session.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { List } from "../../../../ui/list/list.tsx";
import { Table } from "../../../../ui/list/table.tsx";
import { WhenLoaded } from "../../../../ui/list/when-loaded.tsx";
import { Note } from "../../../../ui/note.tsx";
import { useConnections } from "../../../providers/connections.tsx";
import { privateConnections } from "../../../providers/source.ts";
import { reasonTexts, roleTexts, UsableBadge } from "../../../providers/words.tsx";
import type { TabProps } from "../tab-props.ts";
import { RoleDialog } from "./role-dialog.tsx";

/** Which models answer for the agent, and its private connections. */
export function Models({ agent: { slug }, onChange }: TabProps) {
  const roles = useLoaded(async () => (await api.listProviderRoles({ slug })).roles, [slug]);
  const reload = async () => void (await Promise.all([roles.reload(), onChange()]));
  return (
    <div class="form">
      <WhenLoaded of={roles}>{(all) => <Roles slug={slug} roles={all} onChange={reload} />}</WhenLoaded>
      <Allowed to="agent.secret:read">
        <h2>Private connections</h2>
        <PrivateConnections slug={slug} onChange={reload} />
      </Allowed>
    </div>
  );
}

interface Props {
  slug: string;
  onChange: () => Promise<void>;
}

function Roles({ slug, roles, onChange }: Props & { roles: readonly ProviderRole[] }) {
  const edited = useSignal<ProviderRole | null>(null);
  const chat = roles.find(({ role }) => role === "chat");
  return (
    <>
      {chat && !chat.usable && <Silent {...chat} />}
      <p class="soft">
        An agent binds a role to a connection{" "}
        {may("org.secret:read") ? <a href={hrefOf(["providers"])}>of the organization</a> : "of the organization"} or to
        a private one. A change is in force with the next turn.
      </p>
      <Table
        label="Roles"
        rows={roles}
        keyOf={({ role }) => role}
        about={({ role }) => roleTexts[role].about}
        columns={[
          { title: "Role", cell: ({ role }) => roleTexts[role].title },
          { title: "Model", cell: (role) => <RoleModels {...role} /> },
          { title: "Chosen by", cell: ({ source }) => sourceTexts[source] },
          { title: "State", cell: (role) => <UsableBadge {...role} none="no model" /> },
        ]}
        actionsTo="agent:write"
        actions={(role) => (
          <Button
            small
            aria-label={`Change ${roleTexts[role.role].title}`}
            onClick={() => {
              edited.value = role;
            }}
          >
            Change
          </Button>
        )}
      />
      {edited.value && (
        <RoleDialog
          slug={slug}
          role={edited.value}
          onSaved={onChange}
          onClose={() => {
            edited.value = null;
          }}
        />
      )}
    </>
  );
}

const sourceTexts: Readonly<Record<ProviderRole["source"], string>> = {
  bound: "the agent",
  default: "the organization's default",
  environment: "the environment",
  none: "nobody",
};

/** Tells that the agent answers nobody. */
const Silent = ({ connection, reason }: ProviderRole) => (
  <Note look="bad">
    <p>
      The agent does not answer: {connection?.name ?? "its model"} is {reason ? reasonTexts[reason] : "missing"}. Bind{" "}
      {roleTexts.chat.title} to another connection.
    </p>
  </Note>
);

/** The model of a role, with those that answer when it does not. */
function RoleModels({ connection, model, fallbacks, options }: ProviderRole) {
  if (model === null) return <span class="soft">none</span>;
  const nameOf = (id: string) => options.find(({ connectionId }) => connectionId === id)?.name ?? "not usable";
  return (
    <>
      {connection ? `${connection.name} · ${model}` : model}
      {fallbacks.map((fallback, index) => (
        <div key={index} class="soft">
          then {nameOf(fallback.connectionId)} · {fallback.model}
        </div>
      ))}
    </>
  );
}

const PrivateConnections = ({ slug, onChange }: Props) => (
  <List
    empty={["No private connections", "A private connection is for this agent alone, such as a customer's own key."]}
    {...useConnections(privateConnections(slug), [slug], onChange)}
  />
);
