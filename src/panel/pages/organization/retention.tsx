import { useSignal } from "@preact/signals";
import type { RetentionPolicy, RetentionPreview } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useAction } from "../../data/form/action.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Facts } from "../../ui/facts.tsx";
import { type FieldTable, SaveForm } from "../../ui/form/form.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { countText } from "../../ui/text/numbers.ts";
import { Time } from "../../ui/text/time.tsx";

type Subject = RetentionPolicy["subject"];
type Values = Record<Subject, Pick<RetentionPolicy, "enabled" | "days">>;

const titles: Readonly<Record<Subject, string>> = {
  conversations: "Conversations",
  memories: "Memories",
  files: "Files",
  room_events: "Events of Rooms",
  task_runs: "Runs of tasks",
  hook_executions: "Runs of hooks",
  governance_verdicts: "Verdicts of gates",
  turns: "Turns",
};

/** How long the organization keeps its data, and what would be deleted now. */
export function RetentionPage() {
  const slug = orgSlug.value;
  const answer = useLoaded(() => api.getRetention({ orgSlug: slug }), [slug]);
  return (
    <Page
      title="Retention"
      lead="What is older than its days is deleted for good, once a day. Open work and conversations under legal hold stay."
    >
      <WhenLoaded of={answer}>
        {({ policies }) => <Policies key={slug} slug={slug} policies={policies} onChange={answer.reload} />}
      </WhenLoaded>
    </Page>
  );
}

interface Props {
  slug: string;
  policies: readonly RetentionPolicy[];
  onChange: () => Promise<void>;
}

function Policies({ slug, policies, onChange }: Props) {
  const stored = Object.fromEntries(
    policies.map(({ subject, enabled, days }) => [subject, { enabled, days }]),
  ) as Values;
  const counts = useSignal<RetentionPreview["counts"] | null>(null);
  const form = useForm<Values>(`retention.${slug}`, stored, async () => {
    await api.setRetention({ orgSlug: slug, body: { policies: listOf(form.values) } });
    counts.value = null;
    await onChange();
  });
  const fields: FieldTable<Values> = policies.map(({ subject, nextRunAt }, index) => [
    { name: `${subject}.enabled`, label: `Delete old ${inSentence(titles[subject])}`, kind: "switch" },
    {
      name: `${subject}.days`,
      path: `policies.${index}.days`,
      label: `${titles[subject]}: days`,
      kind: "number",
      hint: nextRunAt !== null && (
        <>
          Next deletion <Time at={nextRunAt} />
        </>
      ),
    },
  ]);
  const count = useAction(async () => {
    counts.value = (await api.previewRetention({ orgSlug: slug, body: { policies: listOf(form.values) } })).counts;
  });
  return (
    <>
      <SaveForm
        form={form}
        fields={fields}
        notice={<p class="soft">A policy deletes first 24 hours after it was turned on, or got fewer days.</p>}
      />
      <Card
        title="What would go now"
        lead="With the days above, saved or not, also of what is off. Nothing is deleted by counting."
      >
        <Failure error={count.error} />
        <div class="actions">
          <Button busy={count.busy} onClick={() => void count.run()}>
            Count
          </Button>
        </div>
        {counts.value && (
          <Facts of={policies.map(({ subject }) => [titles[subject], countText(counts.value?.[subject] ?? 0)])} />
        )}
      </Card>
    </>
  );
}

const inSentence = (title: string) => title.charAt(0).toLowerCase() + title.slice(1);

const listOf = (values: Values) =>
  Object.entries(values).map(([subject, policy]) => ({ subject: subject as Subject, ...policy }));
