import type { ProviderRole } from "../../../client/index.ts";

/** Why a connection or a model may not answer. */
type Unusable = NonNullable<ProviderRole["reason"]>;

/** The reasons, as the text of a badge. */
export const reasonTexts: Readonly<Record<Unusable, string>> = {
  "not-admitted": "not admitted",
  disabled: "disabled",
  "no-key": "without key",
};

/** Whether a connection or a role's model may answer; `none` is the text without a model and without a reason. */
export function UsableBadge({ usable, reason, none }: Pick<ProviderRole, "usable" | "reason"> & { none?: string }) {
  if (usable) return <span class="badge good">usable</span>;
  return <span class={reason ? "badge bad" : "badge"}>{reason ? reasonTexts[reason] : none}</span>;
}

/** The roles of models, in words for people. */
export const roleTexts: Readonly<Record<ProviderRole["role"], { title: string; about: string }>> = {
  chat: { title: "Chat", about: "Replies to people." },
  fast: { title: "Fast", about: "Titles, summaries and memories in the background." },
  embedding: { title: "Embedding", about: "Finds memories by their meaning." },
  transcription: { title: "Transcription", about: "Speech to text in calls." },
  speech: { title: "Speech", about: "Text to speech in calls." },
};
