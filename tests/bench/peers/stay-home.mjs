import { Socket } from "node:net";

// Loaded before a peer: nothing that it sends leaves the machine, whatever it would like to tell somebody.
const connect = Socket.prototype.connect;

Socket.prototype.connect = function (...words) {
  const { path, host = "localhost" } = [words[0]].flat()[0] ?? {};
  if (!path && !["localhost", "127.0.0.1", "::1"].includes(host)) {
    console.error(`A peer was kept from calling ${host}`);
    queueMicrotask(() => this.destroy(new Error(`No call leaves this machine: ${host}`)));
    return this;
  }
  return connect.apply(this, words);
};
