import { useSignal } from "@preact/signals";
import { LogOut, Menu, Monitor, Moon, Search, Sun } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { addressed } from "../data/api.ts";
import { readApprovals, waitingApprovals } from "../data/approvals.ts";
import { impersonation } from "../data/impersonation.ts";
import { useLoaded, useRefresh } from "../data/list/load.ts";
import { hrefOf, route } from "../data/route.ts";
import { organization, organizations, signOut, user } from "../data/session.ts";
import { theme, themes } from "../data/theme.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/form/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { countText } from "../ui/text/numbers.ts";
import { tell, tellFailure } from "../ui/toast.tsx";
import { openOrganization } from "./open-organization.ts";
import { Palette } from "./palette.tsx";
import { RouteView } from "./route-view.tsx";
import { accountSection, reachableGroups } from "./sections.ts";

/** The navigation beside the page; on a narrow screen it opens over the page. */
export function Shell() {
  const open = useSignal(false);
  const palette = useSignal(false);
  const place = route.value;
  const topbar = useRef<HTMLElement>(null);
  useEffect(() => {
    open.value = false;
    palette.value = false;
  }, [place]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && open.value) {
        open.value = false;
        // The menu, which is hidden now, may have had the focus.
        topbar.current?.querySelector("button")?.focus();
      }
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      palette.value = true;
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [open, palette]);
  const current = organization.value;
  const former = useRef(current);
  useEffect(() => {
    // When a permission is lost, the pressed button and its error message may have disappeared.
    const changed = former.current?.slug === current?.slug && former.current?.roleKey !== current?.roleKey;
    if (changed && current) tell(`Your role in ${current.name} is ${current.roleKey} now.`);
    former.current = current;
  }, [current]);
  const find = () => {
    palette.value = true;
  };
  const close = () => {
    open.value = false;
  };

  return (
    <div class="shell" data-menu={open.value ? "open" : "closed"}>
      <header class="topbar" ref={topbar}>
        <Button
          look="plain"
          aria-label="Menu"
          aria-expanded={open.value}
          aria-controls="navigation"
          onClick={() => {
            open.value = !open.value;
          }}
        >
          <Icon of={Menu} />
        </Button>
        <Brand />
        <Button look="plain" aria-label="Find" onClick={find}>
          <Icon of={Search} />
        </Button>
      </header>
      <button type="button" class="curtain" aria-label="Close the menu" tabIndex={-1} onClick={close} />
      <nav class="sidebar" id="navigation" aria-label="Main">
        <Brand />
        <OrganizationChoice />
        <Button small onClick={find}>
          <Icon of={Search} /> Find… <kbd>Ctrl K</kbd>
        </Button>
        <PasswordNotice />
        <Links current={place[0]} onGo={close} />
        <Foot />
      </nav>
      <RouteView />
      {palette.value && (
        <Palette
          onClose={() => {
            palette.value = false;
          }}
        />
      )}
    </div>
  );
}

interface LinksProps {
  current: string | undefined;
  /** Called also for the link of the current page. */
  onGo: () => void;
}

function Links({ current, onGo }: LinksProps) {
  const groups = reachableGroups();
  const shown = current ?? groups[0]?.sections[0]?.name;
  return (
    <>
      {groups.map(({ title, sections }) => (
        <div key={title} class="links">
          {title !== null && <h2>{title}</h2>}
          {sections.map((section) => (
            <a
              key={section.name}
              href={hrefOf([section.name])}
              aria-current={section.name === shown ? "page" : undefined}
              onClick={onGo}
            >
              <Icon of={section.icon} />
              {section.title}
              {section.name === "approvals" && <WaitingCount />}
            </a>
          ))}
        </div>
      ))}
    </>
  );
}

/** Asks people whose password somebody else knows to choose another one. */
function PasswordNotice() {
  if (!user.value?.passwordChangeRequired) return null;
  return (
    <a class="note warn" href={hrefOf([accountSection.name])}>
      Choose a password of your own
    </a>
  );
}

const looks = { system: Monitor, light: Sun, dark: Moon };

function Foot() {
  const { value } = theme;
  const next = themes[(themes.indexOf(value) + 1) % themes.length] ?? "system";
  return (
    <div class="foot">
      <a class="who" href={hrefOf([accountSection.name])} title={`Your account: ${user.value?.email}`}>
        {user.value?.name || user.value?.email}
      </a>
      <Button
        look="plain"
        small
        aria-label={`Appearance: ${value}. Change to ${next}`}
        title={`Appearance: ${value}`}
        onClick={() => {
          theme.value = next;
        }}
      >
        <Icon of={looks[value]} />
      </Button>
      {impersonation.value === null && (
        <Button
          look="plain"
          small
          aria-label="Sign out"
          title="Sign out"
          onClick={() => void signOut().catch(tellFailure)}
        >
          <Icon of={LogOut} />
        </Button>
      )}
    </div>
  );
}

const Brand = () => (
  <a class="brand" href="#/">
    <img src="favicon.svg" alt="" />
    Agent Engine
  </a>
);

/** The current organization; a choice for people who reach several. */
function OrganizationChoice() {
  const { value } = organization;
  const all = organizations.value;
  if (all.length <= 1) return <span class="tenant">{value?.name ?? "No organization"}</span>;
  return (
    <Select
      label="Organization"
      value={value?.slug ?? ""}
      choices={all.map(({ slug, name }) => ({ value: slug, label: name }))}
      onValue={(slug) => void openOrganization(slug)}
    />
  );
}

const everyMs = 15_000;

/** The number of tool calls that wait for approval, beside the link to them; nothing when there are none. */
function WaitingCount() {
  const { reload } = useLoaded(() => readApprovals(1), [addressed.value, route.value[0]]);
  useRefresh(reload, everyMs);
  const count = waitingApprovals.value ?? 0;
  if (count === 0) return null;
  return (
    <span class="badge warn count">
      {countText(count)}
      <span class="unseen"> {count === 1 ? "waits" : "wait"}</span>
    </span>
  );
}
