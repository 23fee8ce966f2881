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

/** A deviation of an import from its bundle, or a remaining step. */
export interface ImportWarning {
  type: ImportWarningType;
  message: string;
  /** The path in the bundle, such as `instance.hooks.0`. */
  path: string;
}

/** Notes of an import's parts, for its end. */
export interface ImportNotes {
  warn(type: ImportWarningType, path: readonly (string | number)[], message: string): void;
  /** Adds a time of due work, for which the worker is woken. */
  due(at: Date | null): void;
}
