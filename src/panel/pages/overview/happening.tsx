import type { ComponentChildren } from "preact";
import type { AnalyticsNow, Approval } from "../../../client/index.ts";
import { hrefOf } from "../../data/route.ts";
import { Card } from "../../ui/card.tsx";
import { Time } from "../../ui/text/time.tsx";
import { failurePath, failureText } from "./failure-text.ts";

/** The most items of a list that are shown. */
const shown = 6;

interface Props<Item> {
  title: string;
  /** The text for an empty list. */
  none: string;
  items: readonly Item[];
  total: number;
  children: (item: Item) => ComponentChildren;
}

const Happening = <Item,>({ title, none, items, total, children }: Props<Item>) => (
  <Card title={title}>
    {total === 0 && <p class="soft">{none}</p>}
    <ul class="happening">
      {items.slice(0, shown).map((item, index) => (
        <li key={index}>{children(item)}</li>
      ))}
    </ul>
    {total > shown && <p class="soft">And {total - shown} more.</p>}
  </Card>
);

/** The running and queued turns. */
export const RunningNow = ({ running }: { running: AnalyticsNow["running"] }) => (
  <Happening title="Running now" none="No agent is at work." {...running}>
    {({ instanceId, instanceName, conversationId, channel, status, createdAt }) => (
      <>
        <a href={hrefOf(conversationId === null ? ["agents", instanceId] : ["conversations", conversationId])}>
          {instanceName}
        </a>
        <span class="soft">
          {channel} · {status === "queued" ? "waits since" : "began"} <Time at={createdAt} />
        </span>
      </>
    )}
  </Happening>
);

/** The tool calls that wait for approval. */
export const WaitingCalls = ({ approvals, total }: { approvals: readonly Approval[]; total: number }) => (
  <Happening title="Waiting for approval" none="Nothing waits for a person." items={approvals} total={total}>
    {({ toolName, instanceId, requestedAt }) => (
      <>
        <a href={hrefOf(["approvals"])}>{toolName}</a>
        <span class="soft">
          {instanceId} asked <Time at={requestedAt} />
        </span>
      </>
    )}
  </Happening>
);

/** The failures of the last 24 hours. */
export const Failures = ({ failures }: { failures: AnalyticsNow["failures"] }) => (
  <Happening title="Failed in 24 hours" none="Nothing failed." {...failures}>
    {(failed) => {
      const { what, why } = failureText(failed);
      return (
        <>
          <a href={hrefOf(failurePath(failed))}>{what}</a>
          <span class="why">{why}</span>
          <span class="soft">
            {failed.instanceName} · <Time at={failed.at} />
          </span>
        </>
      );
    }}
  </Happening>
);
