import type { ComponentChildren } from "preact";

/** In place of a list that has nothing: why, and the next step. */
export const Empty = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
);
