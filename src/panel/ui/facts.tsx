import type { ComponentChildren } from "preact";

type Fact = readonly [name: ComponentChildren, text: ComponentChildren];

/** A list of names with their texts. */
export const Facts = ({ of, look = "facts" }: { of: readonly Fact[]; look?: string | undefined }) => (
  <dl class={look}>
    {of.map(([name, text], index) => (
      <div key={index}>
        <dt>{name}</dt>
        <dd>{text}</dd>
      </div>
    ))}
  </dl>
);
