import type { Harness } from "../../harness.ts";

type Json = Record<string, unknown>;

/** Follows the bus of a harness as a stream does; of one conversation also the stored rows. */
export function watch({ services }: Pick<Harness, "services">, conversation?: { agentId: string; ref: string }) {
  const texts: string[] = [];
  services.activity.watch({ sees: () => true, conversation: conversation ?? null, take: (text) => texts.push(text) });
  const data = (text: string) => JSON.parse(text.slice(text.indexOf("data: ") + 6)) as Json;
  return {
    /** All events, as they are sent. */
    texts,
    /** The events by now, without those of these kinds. */
    events: (...without: string[]) =>
      texts
        .filter((text) => text.startsWith("id: "))
        .map(data)
        .filter(({ kind }) => !without.includes(String(kind))),
    kinds: () => texts.filter((text) => text.startsWith("id: ")).map((text) => String(data(text).kind)),
    persisted: () => texts.filter((text) => text.startsWith("event: persisted")).map(data),
  };
}
