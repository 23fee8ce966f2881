import type { Services } from "../../../context/ctx.ts";
import { Semaphore } from "../../../core/limits/semaphore.ts";
import type { TurnInput } from "../../../turn/types.ts";
import { type FreshFiles, imageBytes } from "../../files/index.ts";
import type { TurnRequest } from "../request.ts";

const MiB = 1024 * 1024;

/**
 * The most bytes of pictures in all running turns together, and in those of one organization. During a model call a
 * turn takes nearly four times as much memory, since pictures are sent to a provider as text.
 */
const [most, mostOfOne] = [96 * MiB, 64 * MiB];

/** Limits the running turns with pictures by their memory, since each holds up to 40 MB all the time. */
export class Pictures {
  readonly #services: Services;
  readonly #memory = new Semaphore({ most, mostOfOne });

  constructor(services: Services) {
    this.#services = services;
  }

  /** Runs the work of a turn with these files: at once if it has no pictures, else once their memory is available. */
  async during<T>(owner: string, files: FreshFiles | null, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const bytes = files ? await imageBytes(this.#services, files) : 0;
    return bytes === 0 ? work() : this.#memory.run(owner, signal, work, bytes);
  }
}

/** The files in a turn's messages; null for none. */
export function filesOf(conversation: TurnInput["conversation"], { input, continued }: TurnRequest): FreshFiles | null {
  const fileIds = continued?.suspended.fileIds ?? input.fileIds ?? [];
  return conversation && fileIds.length > 0 ? { conversationId: conversation.id, fileIds } : null;
}
