import { computed, signal } from "@preact/signals";

// A page's address is behind the `#`: the server's own paths are the API's, and a proxy may serve all of it under a path.

const read = () => location.hash.replace(/^#\/?/, "");

const address = signal(read());
addEventListener("hashchange", () => {
  address.value = read();
});

/** The parts of the page's address, decoded, such as `["agents", "support", "prompts"]`; empty for the first page. */
export const route = computed(() => {
  const [path = ""] = address.value.split("?");
  return path.split("/").flatMap((part) => (part === "" ? [] : [decoded(part)]));
});

/** What stands behind the `?` of the page's address. */
export const query = computed(() => new URLSearchParams(address.value.split("?")[1] ?? ""));

/** The address of a page. */
export function hrefOf(parts: readonly string[], search: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(search).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

export function goTo(parts: readonly string[], search?: Readonly<Record<string, string>>): void {
  location.hash = hrefOf(parts, search);
}

/** Goes there without an entry in the browser's history, as what is still typed does: Back skips it. */
export function goOnTo(parts: readonly string[], search?: Readonly<Record<string, string>>): void {
  history.replaceState(history.state, "", hrefOf(parts, search));
  address.value = read();
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What the page of a section is handed: the parts of the address behind the section's name. */
export interface SectionProps {
  rest: readonly string[];
}
