import { useSignal } from "@preact/signals";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form.ts";
import { chooseOrganization, may, organization, readUser } from "../../data/session.ts";
import { Changeable } from "../../ui/allowed.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { TextField } from "../../ui/form/field.tsx";
import { Form } from "../../ui/form/form.tsx";
import { SaveForm } from "../../ui/form/save-form.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { tell } from "../../ui/toast.tsx";

/** The organization itself, and a way to a further one. */
export function OrganizationPage() {
  const own = organization.value;
  if (!own) return null;
  return (
    <Page title="Organization">
      <Name key={own.slug} slug={own.slug} name={own.name} />
      {may("policy:manage") && <NewOrganization />}
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
        <SaveForm form={form}>
          <div class="columns">
            <TextField
              label="Name"
              maxLength={200}
              value={form.values.name}
              problem={form.problem("name")}
              onValue={(text) => form.set({ name: text })}
            />
            <TextField
              label="Its name in addresses"
              hint="Calls with the present one answer 404 from then on."
              autocapitalize="none"
              spellcheck={false}
              value={form.values.slug}
              problem={form.problem("slug")}
              onValue={(text) => form.set({ slug: text })}
            />
          </div>
        </SaveForm>
      </Changeable>
    </Card>
  );
}

function NewOrganization() {
  const done = useSignal<string | null>(null);
  const form = useForm("new-organization", { slug: "", name: "", ownerEmail: "" }, async (changes) => {
    const { organization: made } = await api.createOrganization({ body: { slug: "", ...changes } });
    tell(`${made.name} is there`);
    await readUser();
    done.value = made.roleKey === null ? `${made.name} belongs to ${changes.ownerEmail} now.` : null;
    if (made.roleKey !== null) await chooseOrganization(made.slug);
  });
  const { values, set, problem } = form;
  return (
    <Card title="A further organization" lead="It has its own people, agents and keys, and sees nothing of this one.">
      <Form onSubmit={() => void form.save()}>
        <div class="columns">
          <TextField
            label="Its name in addresses"
            required
            autocapitalize="none"
            spellcheck={false}
            value={values.slug}
            problem={problem("slug")}
            onValue={(slug) => set({ slug })}
          />
          <TextField
            label="Name"
            optional
            maxLength={200}
            value={values.name}
            problem={problem("name")}
            onValue={(name) => set({ name })}
          />
          <TextField
            label="E-mail of its owner"
            optional
            type="email"
            hint="Somebody with an account here; you, when it is empty."
            value={values.ownerEmail}
            problem={problem("ownerEmail")}
            onValue={(ownerEmail) => set({ ownerEmail })}
          />
        </div>
        <Failure error={form.error} />
        {done.value !== null && <p role="status">{done.value}</p>}
        <div class="actions">
          <Button type="submit" busy={form.busy} disabled={!form.dirty}>
            Create the organization
          </Button>
        </div>
      </Form>
    </Card>
  );
}
