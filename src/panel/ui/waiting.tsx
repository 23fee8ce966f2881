import type { ComponentType } from "preact";
import { lazy } from "preact/compat";
import { Failure } from "./note.tsx";
import { Page } from "./page.tsx";

/** A placeholder while content loads. */
export const Waiting = ({ lines = 4 }: { lines?: number | undefined }) => (
  <div class="waiting" role="status">
    <span class="unseen">Loading…</span>
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} aria-hidden="true" />
    ))}
  </div>
);

/** A part of a page, loaded when first shown. */
export function lazily<Props>(
  load: () => Promise<ComponentType<Props>>,
  otherwise: ComponentType<Props> = NotLoaded,
): ComponentType<Props> {
  return lazy<ComponentType<Props>>(async () => ({ default: await load().catch(() => otherwise) }));
}

/** `lazily` for a whole page. */
export const lazilyPage = <Props,>(load: () => Promise<ComponentType<Props>>) => lazily(load, NotLoadedPage);

/** Asks the person to reload, since a browser does not request a script again after a failure. */
function NotLoaded() {
  const error = new Error("This part of the panel could not be loaded: the server is away, or was updated.");
  return <Failure error={error} retry={() => location.reload()} />;
}

const NotLoadedPage = () => (
  <Page title="Not loaded">
    <NotLoaded />
  </Page>
);
