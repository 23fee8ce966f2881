import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { readExcerpt } from "../../src/adapters/excerpt.ts";
import { pooledPost } from "../../src/adapters/node/post.ts";

/** A server on this machine: its address, and the sockets that came. */
async function serve(listener: RequestListener): Promise<{ url: string; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer(listener).on("connection", (socket: Socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`, sockets };
}

const posted = { headers: { "X-Own": "1" }, body: "Zürich", signal: undefined };

test("a text goes out whole, uncompressed answers are asked for, and the answer comes with its headers", async () => {
  const { url } = await serve(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const { "x-own": own, "content-length": length, "accept-encoding": coding } = request.headers;
    response.writeHead(418, { "X-Seen": [String(own), String(length)], "X-Coding": coding }).end(body);
  });
  const answer = await pooledPost()(url, posted);
  expect(answer).toMatchObject({ status: 418, headers: { "x-seen": "1, 7", "x-coding": "identity" } });
  expect(await readExcerpt(answer.body, 100)).toBe("Zürich");
});

test("the next post goes over the same connection", async () => {
  const { url, sockets } = await serve((_, response) => response.end("ok"));
  const post = pooledPost();
  for (let count = 0; count < 3; count += 1) expect(await readExcerpt((await post(url, posted)).body, 100)).toBe("ok");
  expect(sockets).toHaveLength(1);
});

test("an answer that is let go of closes its connection", async () => {
  const { url, sockets } = await serve((_, response) => response.write("one"));
  const { body } = await pooledPost()(url, posted);
  expect((await body?.read())?.value).toEqual(Buffer.from("one"));
  const [socket] = sockets;
  if (!socket) throw new Error("Nobody came");
  const closed = once(socket, "close");
  await body?.cancel();
  await closed;
});

test("a read that waits ends when the answer is let go of", async () => {
  const { url } = await serve((_, response) => response.flushHeaders());
  const { body } = await pooledPost()(url, posted);
  const silence = body?.read();
  await body?.cancel();
  expect(await silence).toMatchObject({ done: true });
});

test("of an answer that nobody reads, no more is taken than a little", async () => {
  const length = 64 * 1024 * 1024;
  let sent = false;
  const { url } = await serve(({ url: path }, response) => {
    if (path !== "/x") return void response.end("ok");
    response.end(Buffer.alloc(length), () => {
      sent = true;
    });
  });
  const post = pooledPost();
  const { body } = await post(url, posted);
  await body?.read();
  for (let count = 0; count < 50; count += 1) await readExcerpt((await post(`${url}/y`, posted)).body, 100);
  expect(sent).toBe(false);
  let read = 0;
  for (let piece = await body?.read(); piece && !piece.done; piece = await body?.read()) read += piece.value.length;
  expect(read).toBeGreaterThan(length - 128 * 1024);
  await expect.poll(() => sent).toBe(true);
});

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
] as const)("an answer that is compressed unasked (%s) is read", async (coding, compress) => {
  const { url } = await serve((_, response) =>
    response.writeHead(200, { "Content-Encoding": coding }).end(compress("Grüße")),
  );
  expect(await readExcerpt((await pooledPost()(url, posted)).body, 100)).toBe("Grüße");
});

test("what claims to be compressed and is not is an error, as is an answer that breaks off", async () => {
  const { url } = await serve(({ url: path }, response) => {
    if (path === "/x") response.writeHead(200, { "Content-Encoding": "gzip" }).end("no gzip at all");
    else response.writeHead(200, { "Content-Length": 10 }).write("half", () => response.destroy());
  });
  const post = pooledPost();
  await expect(readExcerpt((await post(url, posted)).body, 100)).rejects.toThrow();
  await expect(readExcerpt((await post(`${url}/y`, posted)).body, 100)).rejects.toMatchObject({ code: "ECONNRESET" });
});

test("a post that is stopped rejects with the reason, before and after the answer", async () => {
  const { url, sockets } = await serve(({ url: path }, response) => {
    if (path !== "/x") response.write("one");
  });
  for (const path of ["", "/y"]) {
    const stop = new AbortController();
    const reason = new Error("It took too long");
    const answer = pooledPost()(`${url}${path}`, { ...posted, signal: stop.signal });
    if (path === "") {
      while (sockets.length === 0) await new Promise((resolve) => setImmediate(resolve));
      stop.abort(reason);
      expect(await answer.catch((error: unknown) => error)).toBe(reason);
      continue;
    }
    const { body } = await answer;
    await body?.read();
    const silence = body?.read();
    stop.abort(reason);
    await expect(silence).rejects.toThrow();
  }
});
