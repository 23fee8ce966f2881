import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { useAgents } from "../data/agents.ts";
import { isEnter } from "../data/keys.ts";
import { goTo } from "../data/route.ts";
import { may, organizations, orgSlug } from "../data/session.ts";
import { wordsIn } from "../data/text.ts";
import { Dialog } from "../ui/dialog/dialog.tsx";
import { openOrganization } from "./open-organization.ts";
import { accountSection, reachableGroups } from "./sections.ts";

interface Entry {
  title: string;
  kind: string;
  path: readonly string[];
  /** Opens the entry; absent for one whose path is all there is to open. */
  open?: () => Promise<void>;
}

/** Finds a page, an agent or another organization by some letters (Ctrl+K). */
export function Palette({ onClose }: { onClose: () => void }) {
  const text = useSignal("");
  const chosen = useSignal(0);
  const agents = useAgents();
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => list.current?.children[chosen.value]?.scrollIntoView({ block: "nearest" }), [chosen.value]);
  const found = useComputed(() => {
    const has = wordsIn(text.value);
    const wanted = text.value.trim().toLowerCase();
    const begins = ({ title }: Entry) => Number(title.toLowerCase().startsWith(wanted));
    return entries(agents.value.value ?? [])
      .filter(({ title, path }) => has(title, ...path))
      .toSorted((one, other) => begins(other) - begins(one))
      .slice(0, 20);
  });
  const go = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    if (entry.open) void entry.open();
    else goTo(entry.path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (isEnter(event)) go(found.value[chosen.value]);
    if (step === undefined) return;
    event.preventDefault();
    chosen.value = Math.max(0, Math.min(found.value.length - 1, chosen.value + step));
  };
  return (
    <Dialog title="Find" close="Close" onClose={onClose}>
      <input
        class="input"
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.value.length > 0 ? `${id}-${chosen.value}` : undefined}
        aria-label="Name of a page or an agent"
        placeholder="A page or an agent"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          chosen.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} class="palette-list" role="listbox" id={`${id}-list`} aria-label="Found">
        {found.value.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys.
          <div
            key={entry.path.join("/")}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen.value}
            onClick={() => go(entry)}
          >
            <span>{entry.title}</span>
            <span>{entry.kind}</span>
          </div>
        ))}
      </div>
      {found.value.length === 0 && <p class="soft">Nothing has that in its name.</p>}
    </Dialog>
  );
}

function entries(agents: readonly { slug: string; name: string }[]): Entry[] {
  return [
    ...reachableGroups().flatMap(({ sections }) =>
      sections.map(({ title, name }) => ({ title, kind: "Page", path: [name] })),
    ),
    { title: accountSection.title, kind: "Page", path: [accountSection.name] },
    ...(may("agent:write") ? [{ title: "New agent", kind: "Page", path: ["agents", "~new"] }] : []),
    ...agents.map(({ slug, name }) => ({ title: name, kind: "Agent", path: ["agents", slug] })),
    ...agents.map(({ slug, name }) => ({
      title: `${name}: settings`,
      kind: "Agent",
      path: ["agents", slug, "settings"],
    })),
    ...organizations.value
      .filter(({ slug }) => slug !== orgSlug.value)
      .map(({ slug, name }) => ({
        title: name,
        kind: "Organization",
        path: ["organizations", slug],
        open: () => openOrganization(slug),
      })),
  ];
}
