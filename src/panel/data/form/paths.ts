// A field is named by its path in a form's values, such as `name` or `rateLimit.limit`. The API uses the same names.

type Leaf = string | number | boolean | null | undefined | readonly unknown[];

/** The paths of the fields of `T`: its own, and those one level below. */
export type PathOf<T> = {
  [Key in keyof T & string]: T[Key] extends Leaf ? Key : `${Key}.${keyof T[Key] & string}`;
}[keyof T & string];

/** The type of the value at a path. */
export type ValueAt<T, Path> = Path extends keyof T
  ? T[Path]
  : Path extends `${infer Key extends keyof T & string}.${infer Rest}`
    ? Rest extends keyof T[Key]
      ? T[Key][Rest]
      : never
    : never;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** The value at a path; undefined without one. */
export function valueAt(values: object, path: string): unknown {
  const [key = "", ...rest] = path in values ? [path] : path.split(".");
  const value: unknown = (values as Readonly<Record<string, unknown>>)[key];
  if (rest.length === 0) return value;
  return isObject(value) ? valueAt(value, rest.join(".")) : undefined;
}

/** The change that puts a value at a path of the values. */
export function changeAt<T extends object>(values: T, path: string, value: unknown): Partial<T> {
  const [key = "", rest] = path in values ? [path] : path.split(/\.(.*)/s);
  const former = (values as Readonly<Record<string, unknown>>)[key];
  const next = rest && isObject(former) ? { ...former, [rest]: value } : value;
  return { [key]: next } as Partial<T>;
}
