/** The `code` of an error of Node's, such as `ENOENT`; "" if there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
