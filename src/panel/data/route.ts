import { computed, signal } from "@preact/signals";

// The address of the page is the part after the `#`: the server's own paths belong to the API, and a proxy may put all
// of them below a path.

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

/** The parameters after the `?` of the page's address. */
export const query = computed(() => new URLSearchParams(address.value.split("?")[1] ?? ""));

/** The address of a page. */
export function hrefOf(parts: readonly string[], search: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(search).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

export function goTo(parts: readonly string[], search?: Readonly<Record<string, string>>): void {
  location.hash = hrefOf(parts, search);
}

/** Navigates without a new entry in the browser's history, so that Back skips the steps of a person's typing. */
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

/** The properties of a section's page: the parts of the address after the section's name. */
export interface SectionProps {
  rest: readonly string[];
}
