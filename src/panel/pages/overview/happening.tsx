import type { AnalyticsNow, Approval } from "../../../client/index.ts";
import { hrefOf } from "../../data/route.ts";
import { Card } from "../../ui/card.tsx";
import { Time } from "../../ui/time.tsx";
import { failurePath, failureText } from "./failure-text.ts";

/** How many of a list are shown here. */
const shown = 6;

type Running = AnalyticsNow["running"];

/** The turns that run or wait. */
export const RunningNow = ({ running: { items, total } }: { running: Running }) => (
  <Card title="Running now">
    {total === 0 && <p class="soft">No agent is at work.</p>}
    <ul class="happening">
      {items.slice(0, shown).map(({ id, instanceId, instanceName, conversationId, channel, status, createdAt }) => (
        <li key={id}>
          <a href={hrefOf(conversationId === null ? ["agents", instanceId] : ["conversations", conversationId])}>
            {instanceName}
          </a>
          <span class="soft">
            {channel} · {status === "queued" ? "waits since" : "began"} <Time at={createdAt} />
          </span>
        </li>
      ))}
    </ul>
    <More total={total} />
  </Card>
);

/** The calls that wait for a person. */
export const WaitingCalls = ({ approvals, total }: { approvals: readonly Approval[]; total: number }) => (
  <Card title="Waiting for approval">
    {total === 0 && <p class="soft">Nothing waits for a person.</p>}
    <ul class="happening">
      {approvals.slice(0, shown).map(({ toolCallId, conversationId, toolName, instanceId, requestedAt }) => (
        <li key={`${conversationId} ${toolCallId}`}>
          <a href={hrefOf(["approvals"])}>{toolName}</a>
          <span class="soft">
            {instanceId} asked <Time at={requestedAt} />
          </span>
        </li>
      ))}
    </ul>
    <More total={total} />
  </Card>
);

/** What failed in the last 24 hours. */
export const Failures = ({ failures: { items, total } }: { failures: AnalyticsNow["failures"] }) => (
  <Card title="Failed in 24 hours">
    {total === 0 && <p class="soft">Nothing failed.</p>}
    <ul class="happening">
      {items.slice(0, shown).map((failed, index) => {
        const { what, why } = failureText(failed);
        return (
          <li key={index}>
            <a href={hrefOf(failurePath(failed))}>{what}</a>
            <span class="why">{why}</span>
            <span class="soft">
              {failed.instanceName} · <Time at={failed.at} />
            </span>
          </li>
        );
      })}
    </ul>
    <More total={total} />
  </Card>
);

const More = ({ total }: { total: number }) => (total > shown ? <p class="soft">And {total - shown} more.</p> : null);
