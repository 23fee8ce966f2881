import { vi } from "vitest";

// `vi.waitFor` gives up after a second unless it is told otherwise, which a shared machine may take for any step.
const { waitFor } = vi;
const patientMs = 15_000;
if (waitFor.name !== "patient") {
  vi.waitFor = function patient(callback, options = patientMs) {
    return waitFor(callback, typeof options === "number" ? options : { timeout: patientMs, ...options });
  };
}
