import dns from "node:dns";
import { isIP } from "node:net";
import { onTestFinished, vi } from "vitest";

type Lookup = (name: string, options: object, answer: (error: Error) => void) => void;

/** Makes every name unknown until the test ends, without the machine's resolver, which may take long to say so. */
export function knowNoNames(): void {
  const known = dns.lookup as Lookup;
  const lookup: Lookup = (name, options, answer) => {
    if (isIP(name)) return known(name, options, answer);
    const fields = { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: name };
    answer(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), fields));
  };
  const spy = vi.spyOn(dns, "lookup").mockImplementation(lookup as never);
  onTestFinished(() => spy.mockRestore());
}
