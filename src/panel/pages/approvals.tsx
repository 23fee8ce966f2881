import { useSignal } from "@preact/signals";
import type { Approval } from "../../client/index.ts";
import { api } from "../data/api.ts";
import { readApprovals } from "../data/approvals.ts";
import { useAction } from "../data/form/action.ts";
import { useLoaded, useRefresh } from "../data/list/load.ts";
import { hrefOf } from "../data/route.ts";
import { Value } from "../transcript/tool-view.tsx";
import { Allowed } from "../ui/allowed.tsx";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/form/field.tsx";
import { Empty, WhenLoaded } from "../ui/list/when-loaded.tsx";
import { Failure } from "../ui/note.tsx";
import { Page } from "../ui/page.tsx";
import { endUserText } from "../ui/text/end-user.ts";
import { Remaining, Time } from "../ui/text/time.tsx";
import { tell } from "../ui/toast.tsx";

const limit = 100;
/** The interval of reading the list again, in milliseconds. */
const everyMs = 5_000;

/** The tool calls that wait for approval, of all reachable agents. */
export function ApprovalsPage() {
  const waiting = useLoaded(() => readApprovals(limit), []);
  useRefresh(waiting.reload, everyMs);
  return (
    <Page title="Approvals" lead="Calls that agents make only once somebody agrees. They wait for 24 hours.">
      <WhenLoaded of={waiting}>
        {({ approvals, total }) => (
          <>
            {total === 0 && (
              <Empty title="Nothing waits">
                <p>Which tools ask before a call is chosen with the tools of each agent.</p>
              </Empty>
            )}
            {approvals.map((approval) => (
              <ApprovalView
                key={`${approval.conversationId} ${approval.toolCallId}`}
                approval={approval}
                onChange={waiting.reload}
              />
            ))}
            {total > limit && <p class="soft">{total - limit} more wait.</p>}
          </>
        )}
      </WhenLoaded>
    </Page>
  );
}

function ApprovalView({ approval, onChange }: { approval: Approval; onChange: () => Promise<void> }) {
  const { conversationId, instanceId, toolCallId, toolName, args, requestedAt, expiresAt, user, userChannel } =
    approval;
  const reason = useSignal("");
  const decide = useAction(async (approved: boolean) => {
    const told = approved || reason.value === "" ? {} : { reason: reason.value };
    await api.decideApproval({ id: conversationId, toolCallId, body: { approved, ...told } });
    tell(approved ? "Approved: the call is made now" : "Denied");
    await onChange();
  });
  return (
    <article class="card">
      <header>
        <h2>
          <code>{toolName}</code>
        </h2>
        <p>
          <a href={hrefOf(["agents", instanceId])}>{instanceId}</a> asked <Time at={requestedAt} />
          {user !== null && `, for ${endUserText(user, userChannel)}`}, and waits <Remaining until={expiresAt} />.{" "}
          <a href={hrefOf(["conversations", conversationId])}>Read the conversation</a>
        </p>
      </header>
      <Value title="Arguments" value={args} />
      <Allowed to="agent:write">
        <TextField
          label="Reason to deny"
          optional
          hint="The agent is told."
          value={reason.value}
          onValue={(value) => {
            reason.value = value;
          }}
        />
        <Failure error={decide.error} />
        <div class="actions">
          <Button look="primary" busy={decide.busy} onClick={() => void decide.run(true)}>
            Approve
          </Button>
          <Button busy={decide.busy} onClick={() => void decide.run(false)}>
            Deny
          </Button>
        </div>
      </Allowed>
    </article>
  );
}
