import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../../core/config.ts";
import { newId } from "../../core/ids.ts";
import type { Address } from "./refusal.ts";

/** The most chats in the file. The oldest are deleted. */
const mostChats = 200;

/** Chat ids by address, the most recent at the end. */
type Chats = ReadonlyMap<string, string>;

/** The file of recent chats: in DATA_DIR if that is set, or else in the user's configuration. */
export function chatsFile({ DATA_DIR, XDG_CONFIG_HOME, APPDATA, HOME }: Environment): string {
  if (DATA_DIR) return join(DATA_DIR, "chats.json");
  const home = XDG_CONFIG_HOME || APPDATA || join(HOME || homedir(), ".config");
  return join(home, "agent-engine", "chats.json");
}

/** Makes a new chat id. */
export const newChatId = () => `cli-${newId()}`;

/** The id of the last chat with an agent, or null. An unreadable file counts as empty. */
export function recallChat(file: string, address: Address): string | null {
  return readChats(file).get(nameOf(address)) ?? null;
}

/** Stores the id in a file that only the user can read, as a whole or not at all. Throws the system's error. */
export function rememberChat(file: string, address: Address, chatId: string): void {
  const name = nameOf(address);
  const others = [...readChats(file)].filter(([other]) => other !== name);
  const chats = [...others, [name, chatId]].slice(-mostChats);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${newId()}`;
  try {
    writeFileSync(draft, `${JSON.stringify(Object.fromEntries(chats), null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

const nameOf = ({ url, slug }: Address) => `${url}/${slug}`;

function readChats(file: string): Chats {
  try {
    const stored: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof stored !== "object" || stored === null) return new Map();
    return new Map(Object.entries(stored).filter(([, chatId]) => typeof chatId === "string"));
  } catch {
    return new Map();
  }
}
