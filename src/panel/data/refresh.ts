import { useEffect } from "preact/hooks";

/** Reads again and again while the page is looked at, each time once the answer before is there. */
export function useRefresh(reload: () => Promise<void>, everyMs: number): void {
  useEffect(() => {
    let reading = false;
    const timer = setInterval(async () => {
      if (reading || document.visibilityState !== "visible") return;
      reading = true;
      await reload();
      reading = false;
    }, everyMs);
    return () => clearInterval(timer);
  }, [reload, everyMs]);
}
