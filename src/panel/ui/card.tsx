import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  title: string;
  lead?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of a page with its own heading. */
export function Card({ title, lead, children }: Props) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {lead !== undefined && <p>{lead}</p>}
      </header>
      {children}
    </section>
  );
}
