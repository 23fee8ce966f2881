import { api } from "../../data/api.ts";
import { dayAfter, daysIn, isDate } from "../../data/days.ts";
import { useLoaded } from "../../data/load.ts";
import { offsetIn } from "../../data/offset.ts";
import { goOnTo, goTo, query } from "../../data/route.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure, Note } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { EntryView } from "./entry.tsx";
import { AuditFilters, type Filters, filterNames } from "./filters.tsx";

const limit = 50;

/** Who did what in the organization. What is looked for stands in the address. */
export function AuditPage() {
  const search = query.value;
  const filters = Object.fromEntries(filterNames.map((name) => [name, search.get(name) ?? ""])) as Filters;
  const offset = offsetIn(search.get("offset"));
  const look = (changes: Record<string, string>, go = goTo) => {
    const all = Object.entries({ ...filters, offset: "", ...changes });
    go(["audit-log"], Object.fromEntries(all.filter(([, value]) => value !== "")));
  };
  const { from, to } = filters;
  const isBackwards = isDate(from) && isDate(to) && daysIn(from, to) < 1;
  const isFiltered = filterNames.some((name) => filters[name] !== "");
  return (
    <Page
      title="Audit log"
      lead="Who changed what, newest first. Days are in UTC."
      actions={isFiltered && <Button onClick={() => goTo(["audit-log"])}>Show everything</Button>}
    >
      <AuditFilters filters={filters} onChange={look} onTyped={(changes) => look(changes, goOnTo)} />
      {isBackwards ? (
        <Note look="warn">The last day is before the first one.</Note>
      ) : (
        <Entries
          filters={filters}
          offset={offset}
          onOffset={(next, go) => look({ offset: next === 0 ? "" : String(next) }, go)}
        />
      )}
    </Page>
  );
}

interface Props {
  filters: Filters;
  offset: number;
  onOffset: (offset: number, go: typeof goTo) => void;
}

function Entries({ filters, offset, onOffset }: Props) {
  const { search, actor, action, agent, from, to } = filters;
  const { value, error, reload } = useLoaded(
    (signal) =>
      api.listAuditLogs(
        {
          ...{ limit, offset },
          ...(search && { search }),
          ...(actor && { actor }),
          ...(action && { action }),
          ...(agent && { instanceId: agent }),
          ...(isDate(from) && { from }),
          ...(isDate(to) && { to: dayAfter(to) }),
        },
        { signal },
      ),
    [...Object.values(filters), offset],
  );
  const page = value.value;
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {!page && error.value === undefined && <Waiting />}
      {page?.total === 0 && (
        <Empty title="Nothing was found">
          <p>
            A search looks at the last 90 days unless there is a first day. Entries stay as long as the policy
            retentionDays says.
          </p>
        </Empty>
      )}
      {page && page.items.length > 0 && (
        <ol class="entries" aria-label="Entries">
          {page.items.map((entry) => (
            <EntryView key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
      {page && <Pager {...page} onOffset={onOffset} />}
    </>
  );
}
