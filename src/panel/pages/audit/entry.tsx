import type { AuditEntry } from "../../../client/index.ts";
import { hrefOf } from "../../data/route.ts";
import { Facts } from "../../ui/facts.tsx";
import { momentText } from "../../ui/text/numbers.ts";
import { Time } from "../../ui/text/time.tsx";
import { actionText, actorText, changesOf, otherDetailsOf } from "./entry-text.ts";

/** An entry of the log, with its details when opened. */
export function EntryView({ entry }: { entry: AuditEntry }) {
  const { action, actor, target, success, createdAt } = entry;
  return (
    <li>
      <details>
        <summary>
          <span class="did">
            <b>{actorText(actor)}</b> {actionText(action)}
            {target !== null && (
              <>
                {" "}
                <code>{target}</code>
              </>
            )}{" "}
            {!success && <span class="badge bad">failed</span>}
          </span>
          <span class="soft">
            <Time at={createdAt} />
          </span>
        </summary>
        <Details entry={entry} />
      </details>
    </li>
  );
}

function Details({ entry }: { entry: AuditEntry }) {
  const { action, instanceId, ip, createdAt, actor } = entry;
  const changes = changesOf(entry);
  return (
    <div class="entry-details">
      {changes.length > 0 && (
        <dl>
          {changes.map(({ field, from, to }) => (
            <div key={field}>
              <dt>{field}</dt>
              <dd>
                <span class="unseen">from </span>
                <del>{from}</del>
                <span aria-hidden="true"> → </span>
                <span class="unseen"> to </span>
                <ins>{to}</ins>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <Facts
        look=""
        of={[
          ...otherDetailsOf(entry).map(({ name, text }) => [name, text] as const),
          ["Action", <code>{action}</code>],
          ...(instanceId === null
            ? []
            : [["Agent", <a href={hrefOf(["agents", instanceId])}>{instanceId}</a>] as const]),
          ["By", [actor.type, actor.id].filter((part) => part !== null).join(" ")],
          ["When", momentText(createdAt)],
          ["From", ip ?? "this machine"],
        ]}
      />
    </div>
  );
}
