import type { ComponentChildren, ComponentProps } from "preact";
import { Composer } from "./composer.tsx";

interface Props extends ComponentProps<typeof Composer> {
  /** Buttons that are about the conversation. */
  children: ComponentChildren;
}

/** Stays at the bottom of the window: where a message is written, and what else can be done. */
export const Dock = ({ children, ...composer }: Props) => (
  <div class="dock">
    <Composer {...composer} />
    <div class="chat-after">{children}</div>
  </div>
);
