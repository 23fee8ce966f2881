/** The text of a statement for tests to search: names without quotes, and a single space for any white space. */
export const plainText = (text: string) => text.replaceAll('"', "").replaceAll(/\s+/g, " ").trim();
