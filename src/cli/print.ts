/** Writes to standard output. Resolves when the text is out: a pipe may take it in pieces. */
export function print(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

/** One line of JSON, for a script. */
export function printJson(value: object): Promise<void> {
  return print(`${JSON.stringify(value)}\n`);
}
