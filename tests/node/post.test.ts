import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { inspect, promisify } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { readExcerpt } from "../../src/adapters/excerpt.ts";
import { pooledPost } from "../../src/adapters/node/post/post.ts";

/** A server on this machine: its address, and the accepted sockets. */
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

test("a text is sent whole, uncompressed answers are asked for, and the answer arrives with its headers", async () => {
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

test("posts at the same time have connections of their own, and later ones use those that are still open", async () => {
  const { url, sockets } = await serve(({ url: path }, response) => {
    if (path === "/x/last") response.setHeader("Connection", "close");
    response.end("ok");
  });
  const post = pooledPost();
  const ask = async (path = "") => readExcerpt((await post(`${url}${path}`, posted)).body, 100);
  expect(await Promise.all([ask(), ask()])).toEqual(["ok", "ok"]);
  expect(await Promise.all([ask(), ask()])).toEqual(["ok", "ok"]);
  expect(sockets).toHaveLength(2);
  for (let count = 0; count < 2; count += 1) expect(await ask("/last")).toBe("ok");
  expect(sockets).toHaveLength(4);
});

test("the answer is the one after a provisional one", async () => {
  const { url } = await serve((_, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    response.writeProcessing();
    response.writeHead(201).end("made");
  });
  const { status, body } = await pooledPost()(url, posted);
  expect([status, await readExcerpt(body, 100)]).toEqual([201, "made"]);
});

test("the name and password of an address are sent, unless the caller has others", async () => {
  const { url } = await serve(({ headers }, response) => response.end(headers.authorization));
  const named = url.replace("//", "//ada:t%C3%A9a@");
  const post = pooledPost();
  expect(await readExcerpt((await post(named, posted)).body, 100)).toBe(`Basic ${btoa("ada:t\u00c3\u00a9a")}`);
  const bearer = { ...posted, headers: { authorization: "Bearer key" } };
  expect(await readExcerpt((await post(named, bearer)).body, 100)).toBe("Bearer key");
});

test("a server that is not there is an error with its code", async () => {
  const { url } = await serve(() => {});
  const gone = url.replace(/:\d+/, ":9");
  await expect(pooledPost()(gone, posted)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("an answer that is no HTTP, or has too large headers, is an error with a code and without what was received", async () => {
  const answers = ["no HTTP: secret\r\n\r\n", `HTTP/1.1 200 OK\r\nx: ${"secret".repeat(4000)}\r\n\r\n`];
  const server = createTcpServer((socket) => socket.once("data", () => socket.end(answers.shift() ?? "")));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  const post = pooledPost();
  for (const code of ["HPE_INVALID", "UND_ERR_HEADERS_OVERFLOW"]) {
    const error: unknown = await post(url, posted).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code });
    expect(inspect(error, { depth: 9 })).not.toContain("secret");
  }
});

test("an abandoned answer closes its connection", async () => {
  const { url, sockets } = await serve((_, response) => response.write("one"));
  const { body } = await pooledPost()(url, posted);
  expect((await body?.read())?.value).toEqual(Buffer.from("one"));
  const [socket] = sockets;
  if (!socket) throw new Error("Nobody came");
  const closed = once(socket, "close");
  await body?.cancel();
  await closed;
});

test("a waiting read ends when the answer is abandoned", async () => {
  const { url } = await serve((_, response) => response.flushHeaders());
  const { body } = await pooledPost()(url, posted);
  const silence = body?.read();
  await body?.cancel();
  expect(await silence).toMatchObject({ done: true });
});

test("a body that came in many pieces is read as one", async () => {
  const said = "token ".repeat(500);
  const pieces = [...said].map((character) => `1\r\n${character}\r\n`).join("");
  const server = createTcpServer((socket) =>
    socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${pieces}0\r\n\r\n`)),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { body } = await pooledPost()(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`, posted);
  const read: string[] = [];
  for (let piece = await body?.read(); piece && !piece.done; piece = await body?.read()) {
    read.push(Buffer.from(piece.value).toString());
  }
  expect(read.join("")).toBe(said);
  expect(read.length).toBeLessThan(100);
});

test("of an unread answer, no more than a little is taken", async () => {
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

test("of an unread compressed answer, no more than a little is decompressed", async () => {
  const zeros = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const { url } = await serve((_, response) => response.writeHead(200, { "Content-Encoding": "gzip" }).end(zeros));
  const before = process.memoryUsage().arrayBuffers;
  const { body } = await pooledPost()(url, posted);
  await body?.read();
  for (let count = 0; count < 100; count += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  let read = 0;
  for (let piece = await body?.read(); piece && !piece.done; piece = await body?.read()) read += piece.value.length;
  expect(read).toBeGreaterThan(63 * 1024 * 1024);
});

test("a body wrongly declared as compressed is an error, as is an answer that breaks off", async () => {
  const { url } = await serve(({ url: path }, response) => {
    if (path === "/x") response.writeHead(200, { "Content-Encoding": "gzip" }).end("no gzip at all");
    else response.writeHead(200, { "Content-Length": 10 }).write("half", () => response.destroy());
  });
  const post = pooledPost();
  await expect(readExcerpt((await post(url, posted)).body, 100)).rejects.toThrow();
  await expect(readExcerpt((await post(`${url}/y`, posted)).body, 100)).rejects.toMatchObject({
    code: "UND_ERR_SOCKET",
  });
});

test("a post that was aborted before is not sent", async () => {
  const { url, sockets } = await serve((_, response) => response.end("ok"));
  const reason = new Error("Too late");
  const post = pooledPost();
  await expect(post(url, { ...posted, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await post(url, posted);
  expect(sockets).toHaveLength(1);
});

test("a post that is aborted while its connection opens is not sent, and the next one is", async () => {
  const paths: (string | undefined)[] = [];
  const { url } = await serve((request, response) => {
    paths.push(request.url);
    response.end("ok");
  });
  const stop = new AbortController();
  const reason = new Error("Too late");
  const post = pooledPost();
  const stopped = post(`${url}/stopped`, { ...posted, signal: stop.signal });
  stop.abort(reason);
  await expect(stopped).rejects.toBe(reason);
  expect(await readExcerpt((await post(`${url}/next`, posted)).body, 100)).toBe("ok");
  expect(paths).toEqual(["/x/next"]);
});

test("posts go over the environment's proxy if Node is told so", async () => {
  const asked: (string | undefined)[] = [];
  const proxy = await serve((request, response) => {
    asked.push(request.url);
    response.end("reached");
  });
  const script = `
    const { pooledPost } = await import(${JSON.stringify(new URL("../../src/adapters/node/post/post.ts", import.meta.url).href)});
    const { body } = await pooledPost()("http://provider.test/v1", { headers: {}, body: "{}", signal: undefined });
    console.log(Buffer.from((await body.read()).value).toString());
    process.exit();`;
  const env = { ...process.env, NODE_USE_ENV_PROXY: "1", HTTP_PROXY: new URL(proxy.url).origin, NO_PROXY: "" };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { env });
  expect([stdout, asked]).toEqual(["reached\n", ["http://provider.test/v1"]]);
});

test("a post that is aborted rejects with the reason, before and after the answer", async () => {
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
