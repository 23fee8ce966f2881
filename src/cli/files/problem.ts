/** Why a file can't be applied. */
export interface Problem {
  /** File, line and column, such as `agents/support.yaml:7:5`. */
  place: string;
  message: string;
}

/** A path into a value: names of fields and indexes of lists. */
export type Path = readonly (string | number)[];

/** A field's name in messages, such as `instance.hooks[2].args`. */
export function fieldName(path: Path): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}
