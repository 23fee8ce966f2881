import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ProviderRole, RoleBinding } from "../../../../../client/index.ts";
import { Button } from "../../../../ui/button.tsx";
import type { Choices } from "../../../../ui/form/choices.ts";
import { Choice, TextField } from "../../../../ui/form/field.tsx";
import type { Control } from "../../../../ui/form/form.tsx";

type Fallback = NonNullable<RoleBinding["fallbacks"]>[number];

interface Props extends Control<Fallback[]> {
  role: ProviderRole;
  /** The connection of the role's first model. */
  first: string | null;
  choices: Choices;
}

const most = 3;

/** The models that answer when the first one does not, in their order. Every step works by keyboard. */
export function FallbackChoice({ role, first, choices, value: fallbacks, problem, onValue }: Props) {
  const list = useRef<HTMLFieldSetElement>(null);
  /** The control that takes the focus after a change of the order, by its label. */
  const next = useSignal<string | null>(null);
  useLayoutEffect(() => {
    if (next.value === null) return;
    const controls = [...(list.current?.querySelectorAll<HTMLElement>("button, select") ?? [])];
    controls.find((control) => control.dataset.step === next.value)?.focus();
    next.value = null;
  });
  const change = (items: Fallback[], focus: string) => {
    next.value = focus;
    onValue(items);
  };
  const replace = (index: number, item: Fallback) => onValue(fallbacks.with(index, item));
  /** Swaps a fallback with the one after it. */
  const swap = (index: number, focus: string) => {
    const [one, other] = fallbacks.slice(index, index + 2);
    if (one && other) change(fallbacks.toSpliced(index, 2, other, one), focus);
  };
  const used = [first, ...fallbacks.map(({ connectionId }) => connectionId)];
  const added = (choices.find(({ value }) => !used.includes(value)) ?? choices[0])?.value;
  return (
    <fieldset class="bare form" ref={list}>
      <legend class="label">Fallbacks</legend>
      <p class="soft">
        Called in this order when a model fails before it has said anything.
        {role.role === "embedding" && " They need the same model, since vectors of two models can't be compared."}
      </p>
      {fallbacks.map(({ connectionId, model = null }, index) => {
        const [name, last] = [`fallback ${index + 1}`, fallbacks.length - 1];
        return (
          <div key={index} class="fallback">
            <div class="columns">
              <Choice
                label={`Connection of ${name}`}
                value={connectionId}
                choices={withUnknown(choices, connectionId)}
                onValue={(id) => replace(index, { connectionId: id, model: null })}
              />
              <TextField
                label={`Model of ${name}`}
                optional
                placeholder="The usual one"
                value={model ?? ""}
                suggestions={modelsOf(role, connectionId)}
                autocapitalize="none"
                spellcheck={false}
                onValue={(text) => replace(index, { connectionId, model: text || null })}
              />
            </div>
            <div class="actions">
              <Button
                small
                aria-label={`Move ${name} up`}
                data-step={`up ${index}`}
                disabled={index === 0}
                onClick={() => swap(index - 1, index === 1 ? "down 0" : `up ${index - 1}`)}
              >
                Up
              </Button>
              <Button
                small
                aria-label={`Move ${name} down`}
                data-step={`down ${index}`}
                disabled={index === last}
                onClick={() => swap(index, index + 1 === last ? `up ${last}` : `down ${index + 1}`)}
              >
                Down
              </Button>
              <Button
                small
                aria-label={`Remove ${name}`}
                data-step={`remove ${index}`}
                onClick={() =>
                  change(fallbacks.toSpliced(index, 1), last === 0 ? "add" : `remove ${Math.min(index, last - 1)}`)
                }
              >
                Remove
              </Button>
            </div>
          </div>
        );
      })}
      {problem !== undefined && <p class="wrong">{problem}</p>}
      {added !== undefined && fallbacks.length < most && (
        <div>
          <Button small data-step="add" onClick={() => onValue([...fallbacks, { connectionId: added, model: null }])}>
            Add a fallback
          </Button>
        </div>
      )}
    </fieldset>
  );
}

/** The models to suggest for a connection. */
export const modelsOf = ({ options }: ProviderRole, id: string | null) =>
  options.find(({ connectionId }) => connectionId === id)?.models ?? [];

/** The choices with a stored connection that is none of them any more. */
const withUnknown = (choices: Choices, id: string): Choices =>
  choices.some(({ value }) => value === id)
    ? choices
    : [...choices, { value: id, label: "A connection that is not usable" }];
