import { eq, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import {
  FileTooLarge,
  type IncomingFile,
  type MessengerAccount,
  MessengerError,
} from "../../../core/channels/messengers.ts";
import { EngineError } from "../../../core/errors.ts";
import { Semaphore } from "../../../core/limits/semaphore.ts";
import { storableJson } from "../../../core/text/text.ts";
import { orAborted } from "../../../core/time/deadline.ts";
import { pause } from "../../../core/time/pause.ts";
import { inbox } from "../../../db/schema.ts";
import { longestFile, NoSpaceLeft, storeFile } from "../../files/index.ts";
import { documentText, type Fate, withFileWords } from "./file-words.ts";

/** The most files in memory at a time. Agents take turns. */
const mostDownloads = 6;

/** A file of a stored message, with its fate once that is final. */
interface InboxFile extends IncomingFile {
  fate?: Fate | undefined;
}

/** A row of the inbox with its files. */
export interface MessageWithFiles {
  id: string;
  text: string;
  files: readonly InboxFile[];
}

/** The owner of the files, and the channel from which they are loaded. */
interface FileOwner {
  agent: { readonly id: string; readonly slug: string; readonly attachmentsEnabled: boolean };
  conversation: { readonly id: string };
  account: Pick<MessengerAccount, "download">;
}

/** The input of a turn from messages: their texts with notes about files, and the stored files' ids. */
interface TurnInputParts {
  texts: string[];
  fileIds: string[];
}

/** How long an answer waits for files, in milliseconds. */
const patienceMs = 25_000;

const attempts = 3;

/** The most files of one turn, and their most bytes. */
const [mostFiles, mostBytes] = [20, 40 * 1024 * 1024];

/** Loads and stores the files of messages before they are answered. */
export type Attach = (
  home: FileOwner,
  messages: readonly MessageWithFiles[],
  signal: AbortSignal,
) => Promise<TurnInputParts>;

/**
 * Makes the attachments of messages. The fate of a file is stored in its message, so that a second attempt does not
 * store it twice. A file that can't be loaded becomes a note. Rejects with the signal's reason after an abort, and with
 * the 404 of a deleted conversation.
 */
export function createAttach(services: Services): Attach {
  const { clock, log, database } = services;
  const downloads = new Semaphore({ most: mostDownloads });

  const remember = async (messageId: string, index: number, fate: Fate) => {
    const place = sql`array['files', ${String(index)}::text, 'fate']`;
    const payload = sql`jsonb_set(${inbox.payload}, ${place}, ${storableJson(fate)}::jsonb)`;
    await database.db.update(inbox).set({ payload }).where(eq(inbox.id, messageId));
  };

  /** Rejects with an error when another attempt may succeed. */
  const load = async ({ home, file, takes }: FileToLoad, signal: AbortSignal): Promise<Fate> => {
    const { agent, conversation, account } = home;
    const bytes = await account.download(file, longestFile, signal);
    if (file.size === null && !takes.bytes(bytes.length)) return { kind: "left-out" };
    const inbound = { agent, conversation, name: file.name, mime: file.mime, bytes };
    const { id, mime, size } = await storeFile(services, inbound).catch((error: unknown) => {
      // Another attempt will count the file again.
      if (file.size === null) takes.bytes(-bytes.length);
      throw error;
    });
    const document = documentText(bytes, mime);
    return { kind: "stored", id, mime, size, ...(document ? { document } : {}) };
  };

  const loadPatiently = async (wanted: FileToLoad, signal: AbortSignal): Promise<LoadResult> => {
    const { home } = wanted;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const fate = await load(wanted, signal);
        return { fate, isCertain: fate.kind === "stored" };
      } catch (error) {
        signal.throwIfAborted();
        const final = finalOf(error);
        if (final?.fate.kind !== "refused" && (final || attempt === attempts)) {
          log.warn({ agent: home.agent.slug, err: reasonOf(error) }, "A file of a message could not be loaded");
        }
        if (final) return final;
        if (attempt === attempts) return unsure;
        const wanted = error instanceof MessengerError ? error.retryAfterMs : null;
        await pause(clock, wanted ?? 1_000 * 3 ** (attempt - 1), signal);
      }
    }
  };

  return async (home, messages, signal) => {
    const late = new AbortController();
    const over = AbortSignal.any([signal, late.signal]);
    const cancel = clock.after(patienceMs, () => late.abort(new Error("The files took too long")));
    const takes = allotment();

    const fateOf = async (message: MessageWithFiles, file: InboxFile, index: number): Promise<Fate> => {
      const taken = takes.file(file);
      if (file.fate) return file.fate;
      if (!home.agent.attachmentsEnabled) return { kind: "refused" };
      if (!taken) return { kind: "left-out" };
      if ((file.size ?? 0) > longestFile) return { kind: "too-large" };
      // If the file is stored after the time limit, its fate is recorded for the next attempt.
      const loading = downloads.run(home.agent.id, over, async () => {
        const { fate, isCertain } = await loadPatiently({ home, file, takes }, over);
        if (isCertain) await remember(message.id, index, fate);
        return fate;
      });
      try {
        return await orAborted(loading, over);
      } catch (error) {
        signal.throwIfAborted();
        if (!late.signal.aborted) throw error;
        log.warn({ agent: home.agent.slug }, "A file of a message took too long to load");
        return { kind: "failed" };
      }
    };

    try {
      const told = await Promise.all(
        messages.map(async (message) => ({
          text: message.text,
          files: await Promise.all(
            message.files.map(async (file, index) => ({ ...file, fate: await fateOf(message, file, index) })),
          ),
        })),
      );
      const fates = told.flatMap(({ files }) => files.map(({ fate }) => fate));
      return {
        texts: withFileWords(told),
        fileIds: fates.flatMap((fate) => (fate.kind === "stored" ? [fate.id] : [])),
      };
    } finally {
      cancel();
    }
  };
}

interface LoadResult {
  fate: Fate;
  /** Whether the result is final: another attempt would have the same. */
  isCertain: boolean;
}

const unsure: LoadResult = { fate: { kind: "failed" }, isCertain: false };

/** The final fate of a file after an error; null when a retry may succeed. Throws the 404 of a deleted conversation. */
function finalOf(error: unknown): LoadResult | null {
  if (error instanceof FileTooLarge) return { fate: { kind: "too-large" }, isCertain: true };
  if (error instanceof MessengerError) return error.isPermanent ? { ...unsure, isCertain: true } : null;
  if (error instanceof NoSpaceLeft) return { fate: { kind: "no-space", of: error.of }, isCertain: false };
  if (!(error instanceof EngineError)) return null;
  if (error.code === "not-found") throw error;
  if (error.code === "forbidden") return { fate: { kind: "refused" }, isCertain: false };
  return error.code === "conflict" ? unsure : null;
}

/** The reason of a failure. Only the messages of these two kinds of errors are free of secrets. */
const reasonOf = (error: unknown) =>
  error instanceof MessengerError || error instanceof EngineError ? error.message : error;

/** Counts the files of a turn against its limits. */
interface Allotment {
  /**
   * Counts the next file, with the size that the messenger or its stored row gives. Returns whether the turn takes it.
   */
  file(file: InboxFile): boolean;
  /** Counts a loaded file without a declared size. Returns whether the turn takes it. */
  bytes(count: number): boolean;
}

function allotment(): Allotment {
  let [files, taken] = [0, 0];
  const bytes = (count: number) => {
    taken += count;
    return taken <= mostBytes;
  };
  return {
    file({ size, fate }) {
      files += 1;
      const known = size ?? (fate?.kind === "stored" ? fate.size : 0);
      return bytes(Math.min(known, longestFile)) && files <= mostFiles;
    },
    bytes,
  };
}

/** A file that a turn takes, still to be loaded. */
interface FileToLoad {
  home: FileOwner;
  file: InboxFile;
  takes: Allotment;
}
