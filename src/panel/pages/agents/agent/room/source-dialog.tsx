import type { EventSource } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form/form.ts";
import { Choice } from "../../../../ui/form/field.tsx";
import { type DialogProps, type FieldTable, FormDialog } from "../../../../ui/form/form.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { senderOf, senders } from "./senders.tsx";

interface Props extends DialogProps {
  slug: string;
  /** Null for a new source. */
  source: EventSource | null;
}

interface SourceInput {
  name: string;
  sourceType: string;
  authKey: string;
  /** Whether requests must contain the key. */
  closed: boolean;
}

/** The default kind of a source. */
const usual = "webhook";

/** Creates or changes a source. A typed key is sent and never comes back, and is not stored in drafts. */
export function SourceDialog({ slug, source, ...dialog }: Props) {
  const stored: SourceInput = {
    name: source?.name ?? "",
    sourceType: source?.sourceType ?? usual,
    authKey: "",
    closed: source?.authKeyConfigured === true,
  };
  const form = useForm(null, stored, async () => {
    const { name, sourceType, authKey, closed } = form.values;
    const key = closed ? (authKey === "" ? {} : { authKey }) : { authKey: null };
    const body = { name, sourceType, ...key };
    if (source) await api.updateEventSource({ slug, id: source.id, body });
    else await api.createEventSource({ slug, body });
    tell(source ? "Saved" : `${name} has its address now`);
  });
  const { name, sourceType, closed } = form.values;
  const sender = senderOf(sourceType);
  const choose = (kind: string) => {
    const { label, bringsKey } = senderOf(kind);
    const named = name === "" || senders.some((one) => one.label === name);
    form.set({
      sourceType: kind,
      ...(named && { name: kind === usual ? "" : label }),
      ...(!bringsKey && { closed: false }),
    });
  };
  const fields: FieldTable<SourceInput> = [
    <Choice
      label="What sends the events"
      value={sender.sourceType}
      choices={senders.map((one) => ({ value: one.sourceType, label: one.label }))}
      onValue={choose}
    />,
    { name: "name", label: "Name", required: true, autofocus: true, placeholder: "Shop" },
    {
      name: "sourceType",
      label: "Kind",
      required: true,
      hint: "In a word of your own, such as shop or form.",
      shown: sender.sourceType === usual,
    },
    {
      name: "closed",
      label: "Calls must bring a key",
      hint: "As Authorization: Bearer …. Without one the address is the only credential.",
      kind: "switch",
      shown: sender.bringsKey || closed,
    },
    !sender.bringsKey && !closed && (
      <p class="soft">{sender.label} brings no key with its calls: the address is the only credential.</p>
    ),
    {
      name: "authKey",
      label: "Key",
      required: source?.authKeyConfigured !== true,
      hint: source?.authKeyConfigured ? "One is stored. Leave it empty to keep it." : undefined,
      kind: "secret",
      shown: closed,
    },
  ];
  return (
    <FormDialog
      title={source ? `Edit ${source.name}` : "New event source"}
      action={source ? "Save" : "Create"}
      form={form}
      fields={fields}
      {...dialog}
    />
  );
}
