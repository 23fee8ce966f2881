import type { AuditEntry } from "../../../client/index.ts";

/** Texts for actions that their noun and verb would describe badly. */
const whole: Readonly<Record<string, string>> = {
  "access.refuse": "was refused",
  "session.create": "signed in",
  "session.end": "ended a session",
  "approval.approve": "approved a call",
  "approval.refuse": "denied a call",
  "installation.setup": "set the installation up",
  "password.reset": "reset a password",
  "mail.fail": "refused a mail",
  "erasure.create": "began the erasure of a person",
  "erasure.complete": "erased a person",
};

const verbs: Readonly<Record<string, string>> = {
  create: "made",
  update: "changed",
  delete: "deleted",
  "delete-all": "deleted all of",
  add: "added",
  remove: "removed",
  import: "imported",
  export: "exported",
  run: "ran",
  replay: "replayed",
  retry: "retried",
  discard: "discarded",
  allow: "allowed",
  disallow: "disallowed",
  accept: "accepted",
  decline: "declined",
  leave: "left",
  refresh: "refreshed",
  change: "changed",
  renew: "renewed",
  end: "ended",
  test: "tested",
};

/** An action in words, such as `changed agent prompt`. */
export function actionText(action: string): string {
  const known = whole[action];
  if (known !== undefined) return known;
  const parts = action.split(".");
  const verb = verbs[parts.at(-1) ?? ""];
  return verb === undefined ? action : `${verb} ${parts.slice(0, -1).join(" ").replaceAll("-", " ")}`;
}

/** The actor in words. */
export function actorText({ type, name, id }: AuditEntry["actor"]): string {
  if (type === "key") return `Key ${name ?? id ?? ""}`.trim();
  return name ?? (type === "system" ? "Somebody without an account" : (id ?? "Somebody"));
}

export interface Change {
  field: string;
  from: string;
  to: string;
}

/** The changed fields of an update. */
export function changesOf({ details }: AuditEntry): Change[] {
  const { changes } = details;
  if (!isObject(changes)) return [];
  return Object.entries(changes).flatMap(([field, change]) =>
    isObject(change) ? [{ field, from: valueText(change.from), to: valueText(change.to) }] : [],
  );
}

/** The other details of an entry. */
export const otherDetailsOf = ({ details }: AuditEntry): { name: string; text: string }[] =>
  Object.entries(details).flatMap(([name, value]) => (name === "changes" ? [] : [{ name, text: valueText(value) }]));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function valueText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "nothing";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join(", ") || "nothing";
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}
