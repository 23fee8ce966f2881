/** Something in a file that keeps it from being applied. */
export interface Problem {
  /** File, line and column, such as `agents/support.yaml:7:5`. */
  place: string;
  message: string;
}

/** A way into a value: names of fields and indexes of lists. */
export type Path = readonly (string | number)[];

/** `instance.hooks[2].args`, as messages name a field. */
export function fieldName(path: Path): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}
