import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { hrefOf, route } from "../data/route.ts";
import { organization, signOut, user } from "../data/session.ts";
import { type Theme, theme } from "../data/theme.ts";
import { Button } from "../ui/button.tsx";
import { Choice } from "../ui/field.tsx";
import { sections } from "./pages.tsx";
import { Palette } from "./palette.tsx";

/** Navigation beside the page; on a narrow screen it opens over it. */
export function Shell({ children }: { children: ComponentChildren }) {
  const open = useSignal(false);
  const palette = useSignal(false);
  const place = route.value;
  useEffect(() => {
    open.value = false;
    palette.value = false;
  }, [place]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") open.value = false;
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      palette.value = true;
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [open, palette]);
  const find = () => {
    palette.value = true;
  };

  return (
    <div class="shell" data-menu={open.value ? "open" : "closed"}>
      <header class="topbar">
        <Button
          look="plain"
          aria-expanded={open.value}
          aria-controls="navigation"
          onClick={() => {
            open.value = !open.value;
          }}
        >
          Menu
        </Button>
        <Brand />
        <Button look="plain" onClick={find}>
          Find
        </Button>
      </header>
      <button
        type="button"
        class="curtain"
        aria-label="Close the menu"
        tabIndex={-1}
        onClick={() => {
          open.value = false;
        }}
      />
      <nav class="sidebar" id="navigation" aria-label="Main">
        <Brand />
        <div class="links">
          {sections.map(({ path, title }) => (
            <a key={title} href={hrefOf(path)} aria-current={path[0] === place[0] ? "page" : undefined}>
              {title}
            </a>
          ))}
        </div>
        <div class="foot">
          <Button small onClick={find}>
            Find… <kbd>Ctrl K</kbd>
          </Button>
          <Choice
            label="Appearance"
            value={theme.value}
            choices={[
              { value: "system", label: "As the system" },
              { value: "light", label: "Light" },
              { value: "dark", label: "Dark" },
            ]}
            onValue={(value) => {
              theme.value = value as Theme;
            }}
          />
          <div class="who">
            <span title={user.value?.email}>{user.value?.name || user.value?.email}</span>
            <span class="soft">{organization.value?.name}</span>
          </div>
          <Button small onClick={() => void signOut()}>
            Sign out
          </Button>
        </div>
      </nav>
      {children}
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

const Brand = () => (
  <a class="brand" href="#/">
    <img src="favicon.svg" alt="" />
    Agent Engine
  </a>
);
