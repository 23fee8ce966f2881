/** One line of the report. */
export interface Check {
  name: string;
  status: "ok" | "warn" | "fail";
  /** The finding and, unless the status is `ok`, advice. */
  message: string;
}

const of =
  (status: Check["status"]) =>
  (name: string, message: string): Check => ({ name, status, message });

export const ok = of("ok");
export const warn = of("warn");
export const fail = of("fail");
