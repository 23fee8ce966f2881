#!/usr/bin/env node
// Only syntax that an old Node knows: it must get as far as the message.
import { existsSync } from "node:fs";

const [major, minor] = process.versions.node.split(".").map(Number);
const program = new URL("../dist/cli.js", import.meta.url);

function refuse(reason) {
  process.stderr.write(`agent-engine: ${reason}\n`);
  process.exitCode = 1;
}

if (major < 22 || (major === 22 && minor < 13)) {
  refuse(`Node 22.13 or newer is needed; this is Node ${process.versions.node}`);
} else if (!existsSync(program)) {
  refuse("the program is not built yet; run: npm ci && npm run build");
} else {
  import(program.href);
}
