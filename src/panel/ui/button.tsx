import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

/** `bordered` is the usual look. */
type Look = "primary" | "danger" | "plain" | "bordered";

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "icon"> {
  look?: Look | undefined;
  small?: boolean;
  /**
   * Whether the button's work is running: the button then ignores clicks. It keeps the focus, unlike a disabled one.
   */
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

/** Keeps a busy button from sending its form, even by Enter. */
const refuse = (event: Event) => event.preventDefault();
