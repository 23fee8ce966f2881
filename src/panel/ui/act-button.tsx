import type { ComponentProps } from "preact";
import { type Action, useAction } from "../data/form/action.ts";
import { Button } from "./button.tsx";
import { tell, tellFailure } from "./toast.tsx";

interface Props extends Omit<ComponentProps<typeof Button>, "busy" | "onClick"> {
  work: () => Promise<unknown>;
  /** The text of the toast after the work. */
  said: string;
  /** Called after the work, to show the new state. */
  onDone: () => Promise<unknown>;
}

/** A button in a list that changes an item at once. A failure is shown in a toast. */
export function ActButton({ work, said, onDone, ...button }: Props) {
  const act = useAction(async () => {
    try {
      await work();
      tell(said);
      await onDone();
    } catch (error) {
      tellFailure(error);
    }
  });
  return <Button {...button} busy={act.busy} onClick={() => void act.run()} />;
}

/** Runs the work of one of several buttons, shows `said` in a toast, and then calls `onDone`. */
export const useActs = (onDone: () => Promise<unknown>): Action<[work: () => Promise<unknown>, said?: string]> =>
  useAction(async (work, said) => {
    await work();
    if (said !== undefined) tell(said);
    await onDone();
  });
