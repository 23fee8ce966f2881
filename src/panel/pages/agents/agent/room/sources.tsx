import { useSignal } from "@preact/signals";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Empty } from "../../../../ui/empty.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { Waiting } from "../../../../ui/waiting.tsx";
import { SourceCard } from "./source-card.tsx";
import { SourceDialog } from "./source-dialog.tsx";

/** The systems that report events, and which of their events matter. */
export function Sources({ slug }: { slug: string }) {
  const { value, error, reload } = useLoaded(() => api.listEventSources({ slug }), [slug]);
  const adds = useSignal(false);
  const sources = value.value;
  const add = (
    <Allowed to="agent.room:write">
      <Button
        look="primary"
        onClick={() => {
          adds.value = true;
        }}
      >
        New source
      </Button>
    </Allowed>
  );
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {!sources && error.value === undefined && <Waiting />}
      {sources?.length === 0 && (
        <Empty title="No event sources yet">
          <p>
            A source is one system that reports events: a shop, a repository, a monitor, a form. It gets an address.
          </p>
          {add}
        </Empty>
      )}
      {sources && sources.length > 0 && <div class="actions">{add}</div>}
      {sources?.map((source) => (
        <SourceCard key={source.id} slug={slug} source={source} onChange={reload} />
      ))}
      {adds.value && (
        <SourceDialog
          slug={slug}
          source={null}
          onSaved={reload}
          onClose={() => {
            adds.value = false;
          }}
        />
      )}
    </>
  );
}
