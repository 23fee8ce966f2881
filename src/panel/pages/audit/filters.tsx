import type { AuditStats } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { DayFields } from "../../ui/form/day-fields.tsx";
import { Choice, choicesWith } from "../../ui/form/field.tsx";
import { SearchField } from "../../ui/form/search-field.tsx";
import { actionText, actorText } from "./entry-text.ts";

export const filterNames = ["search", "actor", "action", "agent", "from", "to"] as const;
export type Filters = Record<(typeof filterNames)[number], string>;

interface Props {
  filters: Filters;
  /** What was chosen. */
  onChange: (changes: Partial<Filters>) => void;
  /** What was typed, perhaps in part. */
  onTyped: (changes: Partial<Filters>) => void;
}

type Choices = { value: string; label: string }[];

/** What of the log is shown. Actors and actions are those of the last 30 days, and the one that is chosen. */
export function AuditFilters({ filters, onChange, onTyped }: Props) {
  const stats = useLoaded((signal) => api.getAuditStats({}, { signal }), []);
  const agents = useLoaded(async () => (await api.listAgents()).instances, []);
  const { actors = [], actions = [] } = stats.value.value ?? {};
  const known = (agents.value.value ?? []).map(({ slug, name }) => ({ value: slug, label: name }));
  return (
    <search class="columns audit-filters">
      <SearchField
        label="Search"
        placeholder="Part of a name, a target or an action"
        text={filters.search}
        onText={(search) => onTyped({ search })}
      />
      <Choice
        label="Who"
        value={filters.actor}
        choices={choicesWith("Everybody", actorChoices(actors), filters.actor)}
        onValue={(actor) => onChange({ actor })}
      />
      <Choice
        label="What"
        value={filters.action}
        choices={choicesWith("Everything", actionChoices(actions), filters.action)}
        onValue={(action) => onChange({ action })}
      />
      <Choice
        label="Agent"
        value={filters.agent}
        choices={choicesWith("All agents", known, filters.agent)}
        onValue={(agent) => onChange({ agent })}
      />
      <DayFields days={filters} onDay={onTyped} />
    </search>
  );
}

function actorChoices(actors: AuditStats["actors"]): Choices {
  const named = actors.flatMap(({ actor }) => {
    const value = actor.id ?? actor.name;
    return value === null ? [] : [{ value, label: actorText(actor) }];
  });
  return [...named, { value: "key", label: "Any management key" }, { value: "system", label: "Anybody else" }];
}

/** Kinds of actions, which are asked for by a dot at their end, and then every action. */
function actionChoices(actions: AuditStats["actions"]): Choices {
  const names = actions.map(({ action }) => action).sort();
  const kinds = [...new Set(names.map((name) => name.split(".")[0] ?? name))];
  return [
    ...kinds.map((kind) => ({ value: `${kind}.`, label: `All about ${kind}` })),
    ...names.map((name) => ({ value: name, label: actionText(name) })),
  ];
}
