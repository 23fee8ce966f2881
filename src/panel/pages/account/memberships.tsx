import { account } from "../../data/api.ts";
import { type Organization, readUser } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { ConfirmButton } from "../../ui/dialog/confirm-button.tsx";
import { Table } from "../../ui/list/table.tsx";

/** The organizations that the person belongs to. */
export function Memberships({ organizations }: { organizations: readonly Organization[] }) {
  if (organizations.length === 0) {
    return (
      <Card title="Organizations">
        <p class="soft">You belong to none. Ask an Admin of one to invite your e-mail address.</p>
      </Card>
    );
  }
  return (
    <Card title="Organizations">
      <Table
        label="Organizations"
        rows={organizations}
        keyOf={({ slug }) => slug}
        about={({ slug }) => <code>{slug}</code>}
        columns={[
          { title: "Organization", cell: ({ name }) => name },
          { title: "Your role", cell: ({ roleKey }) => roleKey },
        ]}
        actions={({ slug, name }) => (
          <ConfirmButton
            small
            label="Leave"
            title={`Leave ${name}?`}
            action="Leave the organization"
            onConfirm={() => account.leaveOrganization({ orgSlug: slug })}
            said={`You left ${name}`}
            onDone={readUser}
          >
            You reach nothing of it from then on. Only an Admin can bring you back.
          </ConfirmButton>
        )}
      />
    </Card>
  );
}
