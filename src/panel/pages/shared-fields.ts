/** The name of an organization or an agent in addresses. */
export const addressName = { label: "Its name in addresses", autocapitalize: "none", spellcheck: false } as const;

/** The address name of a new agent. */
export const agentAddressName = { ...addressName, required: true, pattern: "[a-z0-9_.\\-]+", maxLength: 128 } as const;

/** A new password. */
export const newPassword = {
  kind: "password",
  autocomplete: "new-password",
  required: true,
  minLength: 8,
  maxLength: 256,
  hint: "At least 8 characters.",
} as const;

/** Limits for messengers, of an agent or of the installation. */
export const messengerNumbers = {
  debounceMs: {
    name: "debounceMs",
    label: "Messages that belong together, in ms",
    hint: "Those that come within this time of each other are answered as one.",
    kind: "number",
  },
  typingDelayMs: { name: "typingDelayMs", label: "Before the typing sign, in ms", kind: "number" },
  maxRestarts: { name: "maxRestarts", label: "Restarts of a turn", kind: "number" },
} as const;

/** A time zone by its IANA name, offered from the browser's list. */
export const zone = {
  label: "Time zone",
  required: true,
  hint: "An IANA name such as Europe/Zurich.",
  suggestions: ["UTC", ...Intl.supportedValuesOf("timeZone")],
  spellcheck: false,
} as const;
