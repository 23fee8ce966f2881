import { EngineError } from "./errors.ts";

/** The features of the managed edition. */
export const features = ["administration", "providers", "knowledge", "governance", "channels"] as const;
export type Feature = (typeof features)[number];

/** The edition that a process serves. It stays the same while the process runs. */
export interface Edition {
  name: "open" | "managed";
  managed: boolean;
  /** The features that are on, in the order of the list; none in the open edition. */
  features: readonly Feature[];
  has(feature: Feature): boolean;
}

/** The edition of these settings. `FEATURES` counts in the managed edition only. */
export function editionOf({ EDITION, FEATURES }: { EDITION: Edition["name"]; FEATURES: readonly Feature[] }): Edition {
  const managed = EDITION === "managed";
  const on = features.filter((feature) => managed && FEATURES.includes(feature));
  return { name: EDITION, managed, features: on, has: (feature) => on.includes(feature) };
}

export const openEdition = editionOf({ EDITION: "open", FEATURES: [] });

/** Throws the 403 of a route whose feature is off (managed M1). */
export function requireFeature(edition: Edition, feature: Feature): void {
  if (!edition.has(feature)) {
    throw new EngineError("forbidden", `This installation's licence lacks the feature: ${feature}`);
  }
}
