import type { IconNode } from "lucide";
import { h } from "preact";

/** A picture beside a word that means the same. */
export const Icon = ({ of }: { of: IconNode }) => (
  <svg
    class="icon"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    {of.map(([name, attributes], index) => h(name, { ...attributes, key: index }))}
  </svg>
);
