import type { ComponentChildren } from "preact";
import type { WholeTurn } from "../../client/index.ts";
import { api } from "../data/api.ts";
import { readCurrency } from "../data/currency.ts";
import { useLoaded } from "../data/list/load.ts";
import { hasFeature } from "../data/session.ts";
import { Dialog } from "../ui/dialog/dialog.tsx";
import { Facts } from "../ui/facts.tsx";
import { WhenLoaded } from "../ui/list/when-loaded.tsx";
import { Note } from "../ui/note.tsx";
import { turnCostText } from "../ui/text/money.ts";
import { durationText } from "../ui/text/numbers.ts";
import { answeredBy, fallbackLines } from "./called-models.ts";
import { Value } from "./tool-view.tsx";

interface Props {
  conversationId: string;
  turnId: string;
  onClose: () => void;
}

/** Explains a turn's reply. */
export function WhyDialog({ conversationId, turnId, onClose }: Props) {
  const read = useLoaded(async () => {
    const [{ turn }, currency] = await Promise.all([api.getTurn({ conversationId, turnId }), readCurrency()]);
    return { turn, currency };
  }, [turnId]);
  return (
    <Dialog title="Why this answer" close="Close" onClose={onClose}>
      <WhenLoaded of={read}>{(all) => <Turn {...all} />}</WhenLoaded>
    </Dialog>
  );
}

function Turn({ turn, currency }: { turn: WholeTurn; currency: string | null }) {
  const { debug } = turn;
  return (
    <>
      <Facts
        of={[
          ["Model", [turn.provider, turn.model].filter((part) => part !== null).join(" · ") || "none"],
          ["Tokens", `${turn.promptTokens} in, ${turn.completionTokens} out`],
          ...(hasFeature("providers") ? [["Cost", turnCostText(turn, currency)] as const] : []),
          ["First output", durationText(turn.ttftMs)],
          ["In all", durationText(turn.durationMs)],
          ["Ended as", turn.status],
          ...(turn.errorCode === null ? [] : [["Error", turn.errorCode] as const]),
          ["Request", turn.requestId ?? "–"],
        ]}
      />
      {debug ? (
        <Debug debug={debug} />
      ) : (
        <Note>
          <p>
            The prompt was not kept. Turn on <strong>Keep how replies came about</strong> in the agent's settings to see
            prompt, memories and tools of the turns that follow.
          </p>
        </Note>
      )}
    </>
  );
}

function Debug({ debug }: { debug: NonNullable<WholeTurn["debug"]> }) {
  const { prompt, memories, state, tools, steps, failure } = debug;
  return (
    <>
      {failure && <Note look="bad">{failure.hint ?? failure.message}</Note>}
      {steps.length > 0 && (
        <Section title={`Steps (${steps.length})`}>
          <ol>
            {steps.map((step) => (
              <li key={step.index}>
                {durationText(step.durationMs)}, {step.promptTokens} tokens in, {step.completionTokens} out,{" "}
                {step.finishReason ?? "not ended"}
                {answeredBy(step) && <>, by {answeredBy(step)}</>}
                {fallbackLines(step).map((line) => (
                  <div key={line} class="soft">
                    {line}
                  </div>
                ))}
                {step.retries.map(({ attempt, failure: { message } }) => (
                  <div key={attempt} class="soft">
                    Attempt {attempt} failed: {message}
                  </div>
                ))}
              </li>
            ))}
          </ol>
        </Section>
      )}
      {prompt && (
        <>
          <Section title="Prompt">
            <Value title="System" value={prompt.system} />
          </Section>
          <Section title={`Messages (${prompt.messages.length})`}>
            <Value title="As the model saw them" value={prompt.messages} />
          </Section>
        </>
      )}
      {memories !== "" && (
        <Section title="Memories">
          <Value title="In the prompt" value={memories} />
        </Section>
      )}
      {Object.keys(state).length > 0 && (
        <Section title="State">
          <Value title="Before the turn" value={state} />
        </Section>
      )}
      <Section title={`Tools offered (${tools.length})`}>
        <ul>
          {tools.map(({ name, description }) => (
            <li key={name}>
              <code>{name}</code> <span class="soft">{description}</span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

const Section = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <details class="step">
    <summary>{title}</summary>
    {children}
  </details>
);
