import { expect, test } from "vitest";
import { startServer } from "../browser/server.ts";

test("a server answers while its log is not read, and writes all of it later", async () => {
  const server = await startServer();
  server.child.stderr?.pause();
  // Each one leaves a line of 400 bytes: together more than a pipe holds.
  for (let asked = 0; asked < 1_500; asked += 1) {
    expect((await fetch(`${server.url}/nowhere`)).status).toBe(404);
  }
  server.child.stderr?.resume();
  const answered = () => server.stderr().match(/"path":"\/nowhere"/g)?.length;
  await expect.poll(answered).toBe(1_500);
});
