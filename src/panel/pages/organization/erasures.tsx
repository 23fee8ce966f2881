import { useSignal } from "@preact/signals";
import type { Instance } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { Fields } from "../../ui/form/fields.tsx";
import { type FieldTable, Form } from "../../ui/form/form.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Note } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { type EndUserChannel, endUserChannels, endUserText } from "../../ui/text/end-user.ts";

/** Erases what agents know of an end user. */
export function ErasuresPage() {
  const slug = orgSlug.value;
  const answer = useLoaded(() => api.listAgents({}), [slug]);
  return (
    <Page
      title="Erasure"
      lead="Deletes one person's conversations, files, memories, tasks and messages, and the name in groups, sums and the audit log."
    >
      <WhenLoaded of={answer}>{({ instances }) => <Erasure key={slug} slug={slug} agents={instances} />}</WhenLoaded>
    </Page>
  );
}

const blank = { subject: "", subjectChannel: "web" as EndUserChannel, instanceId: "" };

function Erasure({ slug, agents }: { slug: string; agents: readonly Instance[] }) {
  // Without a draft: the person's id must not stay in the browser.
  const form = useForm(null, blank, async () => {});
  const asks = useSignal(false);
  const begun = useSignal<string | null>(null);
  const { subject, subjectChannel, instanceId } = form.values;
  const all = { value: "", label: "All agents of the organization" };
  const fields: FieldTable<typeof blank> = [
    [
      {
        name: "subject",
        label: "Person",
        required: true,
        autocomplete: "off",
        hint: "The `user` of chat requests, or the id or phone number at the messenger.",
      },
      { name: "subjectChannel", label: "Channel of the person", kind: "choice", choices: endUserChannels },
    ],
    {
      name: "instanceId",
      label: "Agents",
      kind: "choice",
      choices: [all, ...agents.map((agent) => ({ value: agent.slug, label: agent.name }))],
    },
  ];
  const erase = async () => {
    const body = { subject, subjectChannel, ...(instanceId === "" ? {} : { instanceId }) };
    const { erasure } = await api.createErasure({ orgSlug: slug, body });
    begun.value = erasure.id;
    form.reset();
  };
  return (
    <>
      <Form
        narrow
        onSubmit={() => {
          asks.value = true;
        }}
      >
        <Fields form={form} fields={fields} />
        <div class="actions">
          <Button look="danger" type="submit" disabled={subject === ""}>
            Erase the person…
          </Button>
        </div>
      </Form>
      {begun.value !== null && (
        <Note>
          The erasure {begun.value} has begun. The audit log has an entry erasure.complete with this id when it has
          ended.
        </Note>
      )}
      {asks.value && (
        <Confirm
          title={`Erase ${endUserText(subject, subjectChannel)}?`}
          action="Erase the person"
          word={subject}
          onConfirm={erase}
          onClose={() => {
            asks.value = false;
          }}
        >
          What {instanceId === "" ? "all agents know" : `${instanceId} knows`} of this person is deleted. There is no
          way back.
        </Confirm>
      )}
    </>
  );
}
