import type { AuditStats } from "../../../client/index.ts";
import { agentChoices, useAgents } from "../../data/agents.ts";
import { api } from "../../data/api.ts";
import { askedDays, isBackwards } from "../../data/days.ts";
import { filled, filtersOf } from "../../data/list/filters.ts";
import { useList } from "../../data/list/list.ts";
import { useLoaded } from "../../data/list/load.ts";
import { goTo } from "../../data/route.ts";
import { Button } from "../../ui/button.tsx";
import type { Choices } from "../../ui/form/choices.ts";
import { Filters } from "../../ui/list/filters.tsx";
import { List } from "../../ui/list/list.tsx";
import { Note } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { EntryView } from "./entry.tsx";
import { actionText, actorText } from "./entry-text.ts";

/** The audit log of the organization. The address contains the filters. */
export function AuditPage() {
  const filters = filtersOf("audit-log", ["search", "actor", "action", "agent", "from", "to"]);
  const { values, isFiltered, place } = filters;
  const { search, actor, action, agent } = values;
  // Actors and actions of the last 30 days.
  const { actors = [], actions = [] } = useLoaded((signal) => api.getAuditStats({}, { signal }), []).value.value ?? {};
  const agents = agentChoices(useAgents());
  const asked = { ...filled({ search, actor, action, instanceId: agent }), ...askedDays(values) };
  const entries = useList(
    "items",
    (part, signal) => api.listAuditLogs({ ...part, ...asked }, { signal }),
    Object.values(values),
    { limit: 50, place },
  );
  return (
    <Page
      title="Audit log"
      lead="Who changed what, newest first. Days are in UTC."
      actions={isFiltered && <Button onClick={() => goTo(["audit-log"])}>Show everything</Button>}
    >
      <Filters
        of={filters}
        look="audit-filters"
        fields={[
          { name: "search", label: "Search", kind: "search", placeholder: "Part of a name, a target or an action" },
          { name: "actor", label: "Who", kind: "choice", all: "Everybody", choices: actorChoices(actors) },
          { name: "action", label: "What", kind: "choice", all: "Everything", choices: actionChoices(actions) },
          { name: "agent", label: "Agent", kind: "choice", all: "All agents", choices: agents },
          { name: "from", label: "First day", kind: "day" },
          { name: "to", label: "Last day", kind: "day" },
        ]}
      />
      {isBackwards(values) ? (
        <Note look="warn">The last day is before the first one.</Note>
      ) : (
        <List
          of={entries}
          empty={[
            "Nothing was found",
            "A search looks at the last 90 days unless there is a first day. Entries stay as long as the policy retentionDays says.",
          ]}
        >
          {(items) => (
            <ol class="entries" aria-label="Entries">
              {items.map((entry) => (
                <EntryView key={entry.id} entry={entry} />
              ))}
            </ol>
          )}
        </List>
      )}
    </Page>
  );
}

/** The actors in the log, as choices. */
function actorChoices(actors: AuditStats["actors"]): Choices {
  const named = actors.flatMap(({ actor }) => {
    const value = actor.id ?? actor.name;
    return value === null ? [] : [{ value, label: actorText(actor) }];
  });
  return [...named, { value: "key", label: "Any management key" }, { value: "system", label: "Anybody else" }];
}

/** Groups of actions, which end with a dot, and then single actions. */
function actionChoices(actions: AuditStats["actions"]): Choices {
  const names = actions.map(({ action }) => action).sort();
  const kinds = [...new Set(names.map((name) => name.split(".")[0] ?? name))];
  return [
    ...kinds.map((kind) => ({ value: `${kind}.`, label: `All about ${kind}` })),
    ...names.map((name) => ({ value: name, label: actionText(name) })),
  ];
}
