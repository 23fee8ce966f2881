import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { route } from "../data/route.ts";

interface Props {
  title: string;
  lead?: ComponentChildren;
  /** Shown next to the title. */
  actions?: ComponentChildren;
  /** Takes the whole width. */
  wide?: boolean;
  children: ComponentChildren;
}

/**
 * The title and content of a page. The title of a new page gets the focus, so that it is read out; a changed title, or
 * another part of the same item, does not.
 */
export function Page({ title, lead, actions, wide = false, children }: Props) {
  const head = useRef<HTMLHeadingElement>(null);
  const [section, thing] = route.value;
  useEffect(() => {
    document.title = `${title} · Agent Engine`;
  }, [title]);
  useEffect(() => {
    head.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [section, thing]);
  return (
    <main class={wide ? "page wide" : "page"} id="content">
      <div class="page-head">
        <h1 ref={head} tabIndex={-1}>
          {title}
        </h1>
        {actions}
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {children}
    </main>
  );
}
