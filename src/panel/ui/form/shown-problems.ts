import { type Signal, useSignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

interface ShownProblem {
  label: string;
  message: string;
}

/** The problems that the fields of a form show, by the fields' ids; null outside of forms. */
export const ShownProblems = createContext<Signal<ReadonlyMap<string, ShownProblem>> | null>(null);

export const useShownProblems = () => useSignal<ReadonlyMap<string, ShownProblem>>(new Map());

/** Tells the form of a field's problem, so that the refusal of the whole names the field by its label. */
export function useShownProblem(id: string, label: string, message: string | undefined): void {
  const shown = useContext(ShownProblems);
  useLayoutEffect(() => {
    if (!shown || message === undefined) return;
    shown.value = new Map(shown.peek()).set(id, { label, message });
    return () => {
      const others = new Map(shown.peek());
      others.delete(id);
      shown.value = others;
    };
  }, [shown, id, label, message]);
}
