import { useSignal } from "@preact/signals";
import type { MailRelay, TestMailResult } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { user } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { ConfirmButton } from "../../ui/dialog/buttons.tsx";
import { type FieldTable, SaveForm, SendForm } from "../../ui/form/form.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Note } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";

/** The SMTP server of the installation, with a test mail. */
export function MailRelayPage() {
  const answer = useLoaded(() => api.getMailRelay(), []);
  return (
    <Page
      title="Mail relay"
      lead="The SMTP server that sends invitations, and links for people who forgot their password."
    >
      <WhenLoaded of={answer}>
        {({ relay }) => (
          <>
            {relay === null && <Note>There is none, so no mail is sent.</Note>}
            <RelayForm relay={relay} onChange={answer.reload} />
            {relay !== null && <TestCard />}
            {relay !== null && <RemoveCard host={relay.host} onChange={answer.reload} />}
          </>
        )}
      </WhenLoaded>
    </Page>
  );
}

type Values = Omit<MailRelay, "username" | "password"> & { username: string; password: string };

const blank: Values = {
  host: "",
  port: 587,
  secure: false,
  requireTls: true,
  username: "",
  password: "",
  from: "",
};

interface Props {
  relay: MailRelay | null;
  onChange: () => Promise<void>;
}

function RelayForm({ relay, onChange }: Props) {
  const stored = relay ? { ...relay, username: relay.username ?? "", password: "" } : blank;
  const form = useForm<Values>(null, stored, async () => {
    await api.setMailRelay({ body: { ...form.values, username: form.values.username || null } });
    await onChange();
  });
  const fields: FieldTable<Values> = [
    [
      { name: "host", label: "Server", required: true, placeholder: "smtp.example.com", ...plain },
      { name: "port", label: "Port", kind: "number" },
    ],
    [
      { name: "secure", label: "TLS from the first byte", hint: "As on port 465.", kind: "switch" },
      {
        name: "requireTls",
        label: "Only send encrypted (STARTTLS)",
        hint: "Off: a server without TLS gets mails, user name and password in clear text.",
        kind: "switch",
        shown: !form.values.secure,
      },
    ],
    [
      { name: "username", label: "User name", optional: true, hint: "Empty: without signing in.", ...plain },
      {
        name: "password",
        label: "Password",
        optional: true,
        kind: "secret",
        placeholder: relay?.password ?? "",
        hint: relay?.password ? "Empty: the stored one." : undefined,
      },
    ],
    { name: "from", label: "Sender", required: true, placeholder: "Agents <agents@example.com>", ...plain },
  ];
  return <SaveForm form={form} fields={fields} />;
}

const plain = { autocapitalize: "none", spellcheck: false } as const;

function TestCard() {
  const result = useSignal<TestMailResult | null>(null);
  const form = useForm(null, { to: user.value?.email ?? "" }, async () => {
    result.value = null;
    result.value = await api.testMailRelay({ body: form.values });
  });
  const outcome = result.value;
  return (
    <Card title="Test mail" lead="Goes through the relay as it is saved.">
      <SendForm form={form} fields={testFields} action={form.busy ? "Sending…" : "Send"} look="bordered" narrow />
      {outcome?.ok && <Note look="good">The relay accepted it after {outcome.latencyMs} ms.</Note>}
      {outcome?.ok === false && <Note look="bad">{outcome.error}</Note>}
    </Card>
  );
}

const testFields: FieldTable<{ to: string }> = [{ name: "to", label: "To", type: "email", required: true }];

function RemoveCard({ host, onChange }: { host: string; onChange: () => Promise<void> }) {
  return (
    <Card title="Send no mails any more">
      <div class="actions">
        <ConfirmButton
          label="Remove the relay"
          title={`Remove ${host}?`}
          action="Remove the relay"
          onConfirm={() => api.deleteMailRelay()}
          said="The relay is removed"
          onDone={onChange}
        >
          Its stored password is deleted. People get no invitations and no links by mail.
        </ConfirmButton>
      </div>
    </Card>
  );
}
