/** A field for a time zone by its IANA name, offered from the browser's list. */
export const zone = {
  label: "Time zone",
  required: true,
  hint: "An IANA name such as Europe/Zurich.",
  suggestions: ["UTC", ...Intl.supportedValuesOf("timeZone")],
  spellcheck: false,
} as const;
