import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

/** `bordered` is the usual look. */
export type Look = "primary" | "danger" | "plain" | "bordered";

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "icon"> {
  look?: Look | undefined;
  small?: boolean;
  /** The button's work runs: it can't be pressed again. */
  busy?: boolean;
  children: ComponentChildren;
}

export function Button({ look, small = false, busy = false, disabled, type = "button", children, ...rest }: Props) {
  return (
    <button
      {...rest}
      type={type}
      class={["button", look, small && "small"].filter(Boolean).join(" ")}
      disabled={busy || disabled === true}
      aria-busy={busy}
    >
      {children}
    </button>
  );
}
