import type { AuditStats } from "../../../client/index.ts";
import type { Choices } from "../../ui/form/choices.ts";
import { actionText, actorText } from "./entry-text.ts";

/** The actors in the log, as choices. */
export function actorChoices(actors: AuditStats["actors"]): Choices {
  const named = actors.flatMap(({ actor }) => {
    const value = actor.id ?? actor.name;
    return value === null ? [] : [{ value, label: actorText(actor) }];
  });
  return [...named, { value: "key", label: "Any management key" }, { value: "system", label: "Anybody else" }];
}

/** Groups of actions, filtered by a dot at their end, and then single actions. */
export function actionChoices(actions: AuditStats["actions"]): Choices {
  const names = actions.map(({ action }) => action).sort();
  const kinds = [...new Set(names.map((name) => name.split(".")[0] ?? name))];
  return [
    ...kinds.map((kind) => ({ value: `${kind}.`, label: `All about ${kind}` })),
    ...names.map((name) => ({ value: name, label: actionText(name) })),
  ];
}
