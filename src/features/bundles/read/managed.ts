import type { ImportNotes } from "../../../core/bundle.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../core/json.ts";
import { embeddingModels } from "../../../core/models/providers.ts";

/** The fields of an instance that only managed builds have. */
const managedFields: ReadonlySet<string> = new Set([
  ...["embedder", "governance", "providerConnectionId", "providerConnections", "providerRoles", "retention"],
]);

const managedChannels: ReadonlySet<unknown> = new Set(["rest", "email", "hubspot", "voice"]);

interface ReducedInstance {
  instance: JsonObject;
  /** The index that each of its channels has in the bundle. */
  places: readonly number[];
}

/** Removes the parts of an instance that only managed builds have; notes each removed part. */
export function withoutManaged(instance: JsonObject, notes: ImportNotes): ReducedInstance {
  const kept = Object.entries(instance).filter(([field, value]) => {
    if (!managedFields.has(field)) return true;
    // A removed null is no loss, so it is not noted.
    if (value !== null)
      notes.warn("managed_only", ["instance", field], `${field} is a part of managed builds: it is left out`);
    return false;
  });
  const { channels, ...rest } = Object.fromEntries(kept);
  if (!Array.isArray(channels)) return { instance: channels === undefined ? rest : { ...rest, channels }, places: [] };
  const ours = [...channels.entries()].filter(([index, channel]) => {
    if (!isObject(channel) || !managedChannels.has(channel.channelType)) return true;
    const message = `The channel ${channel.channelType} is a part of managed builds: it is left out`;
    notes.warn("channel_unsupported", ["instance", "channels", index], message);
    return false;
  });
  return {
    instance: { ...rest, channels: ours.map(([, channel]) => channel) },
    places: ours.map(([index]) => index),
  };
}

const embedders = Object.entries(embeddingModels).map(([provider, { model }]) => `${provider}:${model}`);

/** Why an import refuses this embedder (spec "Versioning" 5); null when it accepts it. */
export function embedderProblem(embedder: JsonValue | undefined): string | null {
  if (embedder === undefined || embedder === null) return null;
  const named = isObject(embedder) ? [embedder.provider, embedder.model].filter(Boolean).join(":") : embedder;
  const isKnown = embedders.some((known) => known === named || known.split(":")[0] === named);
  return isKnown ? null : `is no embedder that this server knows: ${embedders.join(", ")}`;
}
