import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "./button.tsx";

interface Props {
  /** The label of the file input, for screen readers. */
  label: string;
  /** The `accept` attribute of the file input. */
  accept: string;
  busy: boolean;
  onFile: (file: File) => void;
  children: ComponentChildren;
}

/** A button that lets a person choose a file; the same file may be chosen twice. */
export function FileButton({ label, accept, busy, onFile, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label={label}
        accept={accept}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (file) onFile(file);
        }}
      />
      <Button busy={busy} onClick={() => input.current?.click()}>
        {children}
      </Button>
    </>
  );
}
