import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

/** `bordered` is the usual look. */
type Look = "primary" | "danger" | "plain" | "bordered";

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "icon"> {
  look?: Look | undefined;
  small?: boolean;
  /** The button's work runs: it can't be pressed again, and keeps the focus, which a disabled one would lose. */
  busy?: boolean;
  children: ComponentChildren;
}

export function Button({ look, small = false, busy = false, type = "button", onClick, children, ...rest }: Props) {
  return (
    <button
      {...rest}
      type={type}
      class={["button", look, small && "small"].filter(Boolean).join(" ")}
      aria-disabled={busy || undefined}
      aria-busy={busy}
      onClick={busy ? refuse : onClick}
    >
      {children}
    </button>
  );
}

/** A button that sends a form sends nothing then, by Enter too. */
const refuse = (event: Event) => event.preventDefault();
