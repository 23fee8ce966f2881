import { formFields } from "../../../core/egress/form.ts";

/** The most parameters. Twilio sends some 30; `URLSearchParams` may take quadratic time for a stranger's many. */
const mostParameters = 1_000;

/** The parameters of a form; null for too many. */
export const readParameters = (body: Uint8Array, contentType: string | null): URLSearchParams | null =>
  hasTooMany(body) ? null : formFields(body, contentType ?? undefined);

function hasTooMany(body: Uint8Array): boolean {
  const ampersand = 0x26;
  for (let [count, at] = [1, -1]; count <= mostParameters; count += 1) {
    at = body.indexOf(ampersand, at + 1);
    if (at < 0) return false;
  }
  return true;
}
