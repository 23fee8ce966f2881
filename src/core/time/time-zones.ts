/** Whether the runtime knows the time zone by this IANA name. */
export function isTimezone(name: string): boolean {
  // Newer runtimes also accept bare offsets, which have no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
