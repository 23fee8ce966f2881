/** The kinds of warnings of an import. */
export const importWarningTypes = [
  "unknown_field",
  "managed_only",
  "credential_ignored",
  "secret_missing",
  "web_key_missing",
  "channel_credentials_missing",
  "channel_unsupported",
  "skill_missing",
  "skill_version_missing",
  "tool_unusable",
  "schedule_past",
] as const;
export type ImportWarningType = (typeof importWarningTypes)[number];

/** A difference between an import and its bundle, or a step that is left to do. */
export interface ImportWarning {
  type: ImportWarningType;
  message: string;
  /** The path in the bundle, such as `instance.hooks.0`. */
  path: string;
}

/** Collects notes from the parts of an import. */
export interface ImportNotes {
  warn(type: ImportWarningType, path: readonly (string | number)[], message: string): void;
  /** Notes a time at which work is due, for which the worker is woken. */
  due(at: Date | null): void;
}
