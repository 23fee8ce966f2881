import { useEffect, useRef } from "preact/hooks";
import { hrefOf } from "../data/route.ts";

interface Props {
  /** The name of the list of tabs, for screen readers. */
  label: string;
  /** The address before the tab's name. */
  path: readonly string[];
  /** The name of the open tab; undefined for the first one. */
  current: string | undefined;
  tabs: readonly { name: string | undefined; title: string }[];
}

/** Parts of a page, each with its own address. On a narrow screen the open tab is scrolled into view. */
export function Tabs({ label, path, current, tabs }: Props) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const { current: element } = row;
    const open = element?.querySelector<HTMLElement>("[aria-current]");
    if (element && open) element.scrollLeft = open.offsetLeft - (element.clientWidth - open.offsetWidth) / 2;
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={row}>
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
}
