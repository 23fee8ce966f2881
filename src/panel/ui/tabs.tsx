import { hrefOf } from "../data/route.ts";

interface Props {
  /** What the tabs are parts of, for those who hear the page. */
  label: string;
  /** The address before the tab's name. */
  path: readonly string[];
  /** The name of the open tab; undefined: the first page has none. */
  current: string | undefined;
  tabs: readonly { name: string | undefined; title: string }[];
}

/** Parts of a page, each with an address of its own. */
export const Tabs = ({ label, path, current, tabs }: Props) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ name, title }) => (
      <a
        key={title}
        href={hrefOf([...path, ...(name === undefined ? [] : [name])])}
        aria-current={name === current ? "page" : undefined}
      >
        {title}
      </a>
    ))}
  </nav>
);
