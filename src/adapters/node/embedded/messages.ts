// Messages of PostgreSQL's protocol (its manual, "Message Formats").

/** The message that ends a series of messages. After an error, PostgreSQL skips all messages up to this one. */
export const sync = Uint8Array.of(0x53, 0, 0, 0, 4);

/** The message that runs an SQL text. */
export function simpleQuery(text: string): Buffer {
  const message = Buffer.from(`Q\0\0\0\0${text}\0`);
  message.writeInt32BE(message.length - 1, 1);
  return message;
}
