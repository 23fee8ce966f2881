import { useSignal } from "@preact/signals";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { chooseOrganization, hasFeature, may, organization, readUser } from "../../data/session.ts";
import { Changeable } from "../../ui/allowed.tsx";
import { Card } from "../../ui/card.tsx";
import { DeleteButton } from "../../ui/dialog/buttons.tsx";
import { type FieldTable, SaveForm, SendForm } from "../../ui/form/form.tsx";
import { Page } from "../../ui/page.tsx";
import { tell } from "../../ui/toast.tsx";
import { addressName } from "../shared-fields.ts";

/** The organization's settings, and the creation of another one. */
export function OrganizationPage() {
  const own = organization.value;
  if (!own) return null;
  return (
    <Page title="Organization">
      <Name key={own.slug} slug={own.slug} name={own.name} />
      {may("policy:manage") && <NewOrganization />}
      {hasFeature("administration") && may("org:write") && <Deletion key={own.slug} slug={own.slug} name={own.name} />}
    </Page>
  );
}

function Name({ slug, name }: { slug: string; name: string }) {
  const form = useForm(`organization.${slug}`, { name, slug }, async (body) => {
    const { organization: changed } = await api.updateOrganization({ orgSlug: slug, body });
    await readUser();
    await chooseOrganization(changed.slug);
  });
  return (
    <Card title="Name">
      <Changeable to="org:write">
        <SaveForm form={form} fields={nameFields} />
      </Changeable>
    </Card>
  );
}

const nameFields: FieldTable<{ name: string; slug: string }> = [
  [
    { name: "name", label: "Name", maxLength: 200 },
    { name: "slug", hint: "Calls with the present one answer 404 from then on.", ...addressName },
  ],
];

function NewOrganization() {
  const done = useSignal<string | null>(null);
  const form = useForm("new-organization", { slug: "", name: "", ownerEmail: "" }, async (changes) => {
    const { organization: made } = await api.createOrganization({ body: { slug: "", ...changes } });
    tell(`${made.name} is there`);
    await readUser();
    done.value = made.roleKey === null ? `${made.name} belongs to ${changes.ownerEmail} now.` : null;
    if (made.roleKey !== null) await chooseOrganization(made.slug);
  });
  return (
    <Card title="A further organization" lead="It has its own people, agents and keys, and sees nothing of this one.">
      <SendForm
        form={form}
        fields={[...newFields, done.value !== null && <p role="status">{done.value}</p>]}
        action="Create the organization"
        look="bordered"
        disabled={!form.dirty}
      />
    </Card>
  );
}

const newFields: FieldTable<{ slug: string; name: string; ownerEmail: string }> = [
  [
    { name: "slug", required: true, ...addressName },
    { name: "name", label: "Name", optional: true, maxLength: 200 },
    {
      name: "ownerEmail",
      label: "E-mail of its owner",
      optional: true,
      type: "email",
      hint: "Somebody with an account here; you, when it is empty.",
    },
  ],
];

function Deletion({ slug, name }: { slug: string; name: string }) {
  return (
    <Card title="Delete the organization" lead="The first organization of the installation can't be deleted.">
      <div class="actions">
        <DeleteButton
          name={name}
          kind="organization"
          word={slug}
          onConfirm={() => api.deleteOrganization({ orgSlug: slug, body: { confirm: slug } })}
          onDone={readUser}
        >
          Nobody reaches {name} from then on, and its agents, conversations, files, people and keys are deleted.
          Accounts and the entries of the audit log stay. There is no way back.
        </DeleteButton>
      </div>
    </Card>
  );
}
