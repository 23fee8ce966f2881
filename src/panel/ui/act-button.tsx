import type { ComponentProps } from "preact";
import { type Action, useAction } from "../data/form/action.ts";
import { Button } from "./button.tsx";
import { tell, tellFailure } from "./toast.tsx";

interface Props extends Omit<ComponentProps<typeof Button>, "busy" | "onClick"> {
  work: () => Promise<unknown>;
  /** Told once the work is done. */
  said: string;
  /** Shows what is now. */
  onDone: () => Promise<unknown>;
}

/** A button in a list: it does something to an item at once. A failure is told briefly. */
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

/** Does what one of several buttons is for, tells what is `said`, and then reads again what is now. */
export const useActs = (onDone: () => Promise<unknown>): Action<[work: () => Promise<unknown>, said?: string]> =>
  useAction(async (work, said) => {
    await work();
    if (said !== undefined) tell(said);
    await onDone();
  });
