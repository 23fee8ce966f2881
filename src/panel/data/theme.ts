import { effect, signal } from "@preact/signals";

export const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const place = "agent-engine.theme";
const isTheme = (value: string | null): value is Theme => value === "light" || value === "dark";

const stored = localStorage.getItem(place);
export const theme = signal<Theme>(isTheme(stored) ? stored : "system");

effect(() => {
  if (theme.value === "system") {
    localStorage.removeItem(place);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(place, theme.value);
    document.documentElement.dataset.theme = theme.value;
  }
});
