import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  lead?: ComponentChildren;
  /** Beside the title. */
  actions?: ComponentChildren;
  /** Takes the whole width. */
  wide?: boolean;
  children: ComponentChildren;
}

/** A page's title and content. A new page has the focus on its title, so that it is read out. */
export function Page({ title, lead, actions, wide = false, children }: Props) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Agent Engine`;
    head.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title]);
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
