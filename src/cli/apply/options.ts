import type { Environment } from "../../core/config.ts";
import { type Flags, UsageError } from "../arguments.ts";
import { readTarget, type TargetOptions } from "../target/options.ts";

export interface ApplyOptions extends TargetOptions {
  /** Whether to show the differences and change nothing. */
  dryRun: boolean;
  /** Whether to delete agents and skills that no file names. */
  prune: boolean;
  /** Whether to delete without asking. */
  yes: boolean;
  json: boolean;
}

export const applyFlags = {
  "dry-run": { type: "boolean", description: "Show what differs and change nothing; exit code 3 when something does." },
  prune: { type: "boolean", description: "Delete the agents and skills that no file names." },
  yes: { type: "boolean", description: "Delete without asking, as scripts have to." },
} as const;

/** Reads the flags and the environment. Throws `UsageError`. */
export function readApply(flags: Flags, environment: Environment): ApplyOptions {
  const options = {
    ...readTarget(flags, environment),
    dryRun: flags["dry-run"] === true,
    prune: flags.prune === true,
    yes: flags.yes === true,
    json: flags.json === true,
  };
  if (options.yes && !options.prune) throw new UsageError("--yes is for --prune: nothing else asks");
  return options;
}
