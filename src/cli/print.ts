/** Writes to standard output. Resolves when all of the text is written, since a pipe may accept it in pieces. */
export function print(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

/** Prints one line of JSON, for scripts. */
export function printJson(value: object): Promise<void> {
  return print(`${JSON.stringify(value)}\n`);
}
