import { useSignal } from "@preact/signals";
import { Button } from "../button.tsx";
import { tellFailure } from "../toast.tsx";

interface Props {
  /** The name of the text, such as `Key of the agent`. */
  label: string;
  text: string;
  /** Wraps long lines. */
  wraps?: boolean;
}

/** Text to copy. */
export function Code({ label, text, wraps = false }: Props) {
  const copied = useSignal(false);
  const copy = async () => {
    await copyText(text);
    copied.value = true;
    setTimeout(() => {
      copied.value = false;
    }, 2_000);
  };
  return (
    <div class={wraps ? "code wraps" : "code"}>
      <div class="code-head">
        <span>{label}</span>
        <Button look="plain" small onClick={() => copy().catch(tellFailure)} aria-label={`Copy: ${label}`}>
          {copied.value ? "Copied" : "Copy"}
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard. */}
      <section class="scroll" tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
    </div>
  );
}

/** Copies a text. Pages without TLS have no clipboard API, and copy a selection. Rejects when nothing was copied. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  const focused = document.activeElement;
  // Elements behind an open dialog can't be selected.
  const top = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  top.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!copied) throw new Error("The browser did not copy: select the text and copy it yourself");
}
