import { useAction } from "../data/form/action.ts";
import { may } from "../data/session.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/note.tsx";
import type { ToolPart } from "./reply.ts";

/** Decides a tool call that waits for approval. Rejects with the server's refusal. */
export type Decide = (toolCallId: string, approved: boolean) => Promise<void>;

interface Props {
  part: ToolPart;
  /** Absent when the call needs no decision. */
  decide: Decide | undefined;
}

/** A tool call: its arguments, its result, and the decision it waits for. */
export function ToolView({ part, decide }: Props) {
  const waits = decide !== undefined;
  const choose = useAction(async (approved: boolean) => decide?.(part.id, approved));
  return (
    <details class="step" open={waits}>
      <summary>
        <code>{part.name}</code> <State part={part} waits={waits} />
      </summary>
      <Value title="Arguments" value={part.args} />
      {part.ended && <Value title="Result" value={part.result} />}
      <Failure error={choose.error} />
      {waits && may("agent:write") && (
        <div class="actions">
          <Button look="primary" busy={choose.busy} onClick={() => void choose.run(true)}>
            Approve
          </Button>
          <Button busy={choose.busy} onClick={() => void choose.run(false)}>
            Deny
          </Button>
          <span class="soft">The call is made only if you approve it.</span>
        </div>
      )}
    </details>
  );
}

function State({ part, waits }: { part: ToolPart; waits: boolean }) {
  if (waits) return <span class="badge warn">{may("agent:write") ? "waits for you" : "waits for a decision"}</span>;
  if (!part.ended) return <span class="badge">running</span>;
  return isFailure(part.result) ? <span class="badge bad">failed</span> : <span class="badge good">done</span>;
}

const isFailure = (result: unknown) => typeof result === "object" && result !== null && "error" in result;

/** A value as JSON; a string as its text. */
export function Value({ title, value }: { title: string; value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <div class="value">
      <p class="soft">{title}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard. */}
      <section class="scroll" tabIndex={0} aria-label={title}>
        <pre>{text ?? "nothing"}</pre>
      </section>
    </div>
  );
}
