import type { Instance } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { type DialogProps, type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { type EndUserChannel, endUserChannels } from "../../ui/text/end-user.ts";
import { tell } from "../../ui/toast.tsx";

interface Props extends DialogProps {
  agents: readonly Instance[];
  /** The agent being viewed; empty for all. */
  agent: string;
}

/** Adds a memory to an agent. */
export function NewMemoryDialog({ agents, agent, ...dialog }: Props) {
  const first = agent || (agents[0]?.slug ?? "");
  const blank = {
    instanceId: first,
    content: "",
    subject: "",
    subjectChannel: "web" as EndUserChannel,
    category: "general",
    importance: 5,
  };
  const form = useForm("new-memory", blank, async () => {
    const { event } = await api.createMemory({ body: form.values });
    tell(event === "ADD" ? "It is remembered" : "A memory that said nearly the same is brought up to date");
  });
  const fields: FieldTable<typeof blank> = [
    {
      name: "instanceId",
      label: "Agent",
      kind: "choice",
      choices: agents.map(({ slug, name }) => ({ value: slug, label: name })),
    },
    {
      name: "content",
      label: "Fact",
      required: true,
      hint: "One sentence, such as: Prefers tea without sugar.",
      kind: "area",
      rows: 3,
    },
    [
      { name: "subject", label: "End user", optional: true, hint: "Empty: every conversation may recall it." },
      { name: "subjectChannel", label: "Channel of the end user", kind: "choice", choices: endUserChannels },
      { name: "category", label: "Category" },
      { name: "importance", label: "Weight, 1 to 10", kind: "number" },
    ],
  ];
  return <FormDialog title="New memory" action="Remember" form={form} fields={fields} {...dialog} />;
}
