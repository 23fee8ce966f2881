import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "icon"> {
  look?: "primary" | "danger" | "plain" | undefined;
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
