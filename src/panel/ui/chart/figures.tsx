import type { ComponentChildren } from "preact";

interface Props {
  label: string;
  children: ComponentChildren;
}

/** Large numbers side by side. */
export const Figures = ({ label, children }: Props) => (
  <ul class="figures" aria-label={label}>
    {children}
  </ul>
);

interface FigureProps {
  title: string;
  value: string;
  /** The comparison below the number. */
  about?: ComponentChildren;
}

export const Figure = ({ title, value, about }: FigureProps) => (
  <li>
    <span>{title}</span>
    <strong>{value}</strong>
    {about !== undefined && <span class="soft">{about}</span>}
  </li>
);
