import { useEffect, useRef } from "preact/hooks";

interface Props {
  /** The name of the total, for screen readers. */
  label: string;
  /** From 0 to 1; more fills the bar. */
  share: number;
  look?: "warn" | "bad" | undefined;
}

/** A comparison, shown below the number. */
export function Bar({ label, share, look }: Props) {
  const filled = useRef<HTMLSpanElement>(null);
  const percent = Math.max(0, Math.min(100, Math.round(share * 100)));
  useEffect(() => {
    if (filled.current) filled.current.style.inlineSize = `${percent}%`;
  }, [percent]);
  return (
    <span class={`bar ${look ?? ""}`} role="img" aria-label={`${label}: ${percent}%`}>
      <span ref={filled} />
    </span>
  );
}
