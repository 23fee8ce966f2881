import { vi } from "vitest";

// `vi.waitFor` gives up after a second unless it is told otherwise; on a shared machine any step may take longer.
const { waitFor } = vi;
const patientMs = 45_000;
if (waitFor.name !== "patient") {
  vi.waitFor = function patient(callback, options = patientMs) {
    return waitFor(callback, typeof options === "number" ? options : { timeout: patientMs, ...options });
  };
}
