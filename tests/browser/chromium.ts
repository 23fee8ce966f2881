import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** The one without a window is first: these tests take three quarters of the time in it. */
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** The machine's own browser: none is downloaded. `CHROMIUM` names another one. */
const executable = [process.env.CHROMIUM ?? "", ...names.map((name) => `/usr/bin/${name}`)].find(
  (path) => path !== "" && existsSync(path),
);

export const hasBrowser = executable !== undefined;

/** A browser with a password manager, which the headless shell has not. */
export const wholeBrowser = names
  .slice(1)
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));

/** The screens on which every page is tried. */
export const views = [
  { width: 1440, colorScheme: "light" },
  { width: 1440, colorScheme: "dark" },
  { width: 390, colorScheme: "light" },
  { width: 390, colorScheme: "dark" },
] as const;

/** Starts a browser that makes no requests of its own. */
export function launch(): Promise<Browser> {
  return chromium.launch({
    timeout: 90_000,
    executablePath: executable ?? "",
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
}
