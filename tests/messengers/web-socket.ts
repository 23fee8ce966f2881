import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export interface Peer {
  send(text: string): void;
  /** Closes as RFC 6455 says. */
  close(): void;
  /** Ends the connection without a close frame. */
  drop(): void;
}

interface Handlers {
  onText(text: string): void;
  onGone(): void;
}

const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Takes over an HTTP upgrade; enough of RFC 6455 for short messages in one frame. */
export function acceptWebSocket(request: IncomingMessage, socket: Duplex, { onText, onGone }: Handlers): Peer {
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${guid}`).digest("base64");
  const head = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
  socket.write([...head, `Sec-WebSocket-Accept: ${accept}`, "", ""].join("\r\n"));
  let pending = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    pending = Buffer.concat([pending, bytes]);
    for (let frame = readFrame(pending); frame; frame = readFrame(pending)) {
      pending = pending.subarray(frame.length);
      if (frame.opcode === 1) onText(frame.payload.toString());
      else if (frame.opcode === 8) socket.end(frameOf(8, frame.payload));
      else if (frame.opcode === 9) socket.write(frameOf(10, frame.payload));
    }
  });
  socket.on("error", () => {});
  socket.on("close", onGone);
  return {
    send: (text) => void socket.write(frameOf(1, Buffer.from(text))),
    close: () => void socket.write(frameOf(8, Buffer.from([0x03, 0xe8]))),
    drop: () => void socket.destroy(),
  };
}

function frameOf(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? Buffer.from([0x80 | opcode, length]) : Buffer.from([0x80 | opcode, 126, 0, 0]);
  if (length >= 126) head.writeUInt16BE(length, 2);
  return Buffer.concat([head, payload]);
}

/** The first frame of a client, which masks what it sends; null while it is not complete. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; length: number } | null {
  if (bytes.length < 6) return null;
  const short = bytes.readUInt8(1) & 0x7f;
  if (short === 127) throw new Error("This server takes short messages only");
  if (short === 126 && bytes.length < 8) return null;
  const at = short === 126 ? 4 : 2;
  const size = short === 126 ? bytes.readUInt16BE(2) : short;
  const length = at + 4 + size;
  if (bytes.length < length) return null;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, length));
  for (let index = 0; index < size; index += 1) payload[index] = (payload[index] ?? 0) ^ (mask[index % 4] ?? 0);
  return { opcode: bytes.readUInt8(0) & 0x0f, payload, length };
}
