import type { ComponentChildren } from "preact";

type Fact = readonly [name: ComponentChildren, text: ComponentChildren];

/** Names, each with what is known of it. */
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
