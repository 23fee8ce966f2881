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

/** Something that an import did otherwise than the bundle says, or that is left to do. */
export interface ImportWarning {
  type: ImportWarningType;
  message: string;
  /** The path in the bundle, such as `instance.hooks.0`. */
  path: string;
}

/** Notes of the parts of an import, for its end. */
export interface ImportNotes {
  warn(type: ImportWarningType, path: readonly (string | number)[], message: string): void;
  /** A time at which work falls due, for which the worker is woken. */
  due(at: Date | null): void;
}
