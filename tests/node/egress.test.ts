import type { EventEmitter } from "node:events";
import * as http from "node:http";
import type { Socket } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { EgressError } from "../../src/core/egress/target.ts";
import { unfinishedAnswers } from "../../src/core/egress/unfinished.ts";
import { canary, deadAddress, internet, publicAddress } from "./internet.ts";

const tooMuchAtATime = "Too many large answers come in at the same time: ask again later, or for less";

/** Resolves when the other side is gone, cleanly or not. */
const closing = (stream: EventEmitter) => new Promise((resolve) => stream.once("close", resolve));

describe("a request", () => {
  test("arrives as given, framed by the engine", async () => {
    const { ask, serve, asked } = internet();
    const base = await serve((_, response) => response.writeHead(201, { "X-Reply": "yes" }).end("Grüße"));
    const headers = { "Content-Type": "text/plain", Authorization: "Bearer 1" };
    const answer = await ask(`${base}/path?q=a%20b#part`, { method: "post", headers, body: "Grüße" });
    expect(answer).toMatchObject({ status: 201, headers: { "x-reply": "yes" }, body: "Grüße" });
    expect(answer.url).toBe(`${base}/path?q=a%20b#part`);
    expect(asked).toEqual([
      {
        method: "POST",
        url: "/path?q=a%20b",
        body: "Grüße",
        headers: {
          host: new URL(base).host,
          connection: "close",
          accept: "*/*",
          "accept-encoding": "gzip, deflate, br",
          "user-agent": "agent-engine",
          "content-type": "text/plain",
          "content-length": "7",
          authorization: "Bearer 1",
        },
      },
    ]);
  });

  test("keeps the caller's own Accept and User-Agent, and has a length when it could have a body", async () => {
    const { ask, serve, asked } = internet();
    const base = await serve((_, response) => response.end());
    await ask(base, { method: "PUT", headers: { accept: "text/csv", "USER-AGENT": "mine" } });
    await ask(base, { method: "DELETE" });
    expect(asked[0]?.headers).toMatchObject({ accept: "text/csv", "user-agent": "mine", "content-length": "0" });
    expect(asked[1]?.headers).not.toHaveProperty("content-length");
    expect(asked[1]?.headers).not.toHaveProperty("transfer-encoding");
  });

  test("to a host with a dead address goes to its other one", async () => {
    const { ask, serve } = internet({ "two.test": [deadAddress, publicAddress] });
    const base = await serve((_, response) => response.end("here"));
    expect((await ask(base.replace("public.test", "two.test"))).body).toBe("here");
  });

  test("goes straight to the host, whatever proxy the environment names", async () => {
    const { port, hits } = await canary();
    const { ask, serve } = internet();
    const base = await serve((_, response) => response.end("here"));
    const proxy = `http://127.0.0.1:${port}`;
    onTestFinished(http.setGlobalProxyFromEnv({ http_proxy: proxy, https_proxy: proxy }));
    const outgoing = http.get("http://anything.invalid/");
    const proxied = await new Promise<http.IncomingMessage>((resolve) => outgoing.once("response", resolve));
    expect(Buffer.concat(await proxied.toArray()).toString()).toBe("canary");
    expect(hits()).toBe(1);
    expect((await ask(base)).body).toBe("here");
    expect(hits()).toBe(1);
  });
});

describe("a certificate", () => {
  test("of the host is accepted, for a name and for an address", async () => {
    const { ask, serve } = internet();
    const base = await serve((_, response) => response.end("sealed"), { secure: true });
    expect((await ask(base)).body).toBe("sealed");
    expect((await ask(base.replace("public.test", "public.test."))).body).toBe("sealed");
    expect((await ask(base.replace("public.test", publicAddress))).body).toBe("sealed");
  });

  test("of another host, or of an unknown authority, is not", async () => {
    const { ask, serve, asked } = internet();
    const base = await serve((_, response) => response.end(), { secure: true });
    const invalid = "The certificate of the host is not valid";
    await expect(ask(base.replace("public.test", "other.test"))).rejects.toThrow(new EgressError(invalid));
    await expect(internet({}, { trusted: false }).ask(base)).rejects.toThrow(new EgressError(invalid));
    const plain = await serve((_, response) => response.end());
    await expect(ask(plain.replace("http:", "https:"))).rejects.toThrow("The host does not speak TLS as it must");
    expect(asked).toEqual([]);
  });
});

describe("an answer", () => {
  const limit = 1_048_576;
  const text = "a text ".repeat(1000);

  test.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", Buffer.from(text)],
    ["gzip, br", brotliCompressSync(gzipSync(text))],
  ])("compressed as %s is read", async (coding, bytes) => {
    const { ask, serve } = internet();
    const base = await serve((_, response) => response.writeHead(200, { "Content-Encoding": coding }).end(bytes));
    expect((await ask(base)).body).toBe(text);
  });

  test.each([
    ["zstd", "The answer is compressed in a way that is not supported"],
    ["gzip, gzip, gzip, gzip", "The answer is compressed in a way that is not supported"],
    ["gzip", "The answer is not compressed as it says"],
    ["deflate", "The answer is not compressed as it says"],
    ["br", "The answer is not compressed as it says"],
  ])("that says %s and is not ends in an error", async (coding, message) => {
    const { ask, serve } = internet();
    const base = await serve((_, response) => response.writeHead(200, { "Content-Encoding": coding }).end("plain"));
    await expect(ask(base)).rejects.toThrow(new EgressError(message));
  });

  test("in a million pieces is given up early, and holds up no other", async () => {
    const { ask, speak } = internet();
    let sent = 0;
    const base = await speak((socket) => {
      const pieces = "1\r\nx\r\n".repeat(10_000);
      const more = () => {
        for (; sent < 100 && !socket.destroyed; sent += 1) if (!socket.write(pieces)) return socket.once("drain", more);
        return socket.end("0\r\n\r\n");
      };
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      more();
    });
    await expect(ask(base)).rejects.toThrow(new EgressError("The answer comes in more than 20000 pieces"));
    expect(sent).toBeLessThan(90);
  });

  test("of 1 MiB is read whole, one byte more is too much, compressed or not", async () => {
    const { ask, serve } = internet();
    const base = await serve(({ url }, response) => {
      const bytes = Buffer.alloc(limit + (url.includes("more") ? 1 : 0), "a");
      if (url.includes("gzip")) response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync(bytes));
      else response.end(bytes);
    });
    expect((await ask(`${base}/`)).body).toHaveLength(limit);
    expect((await ask(`${base}/gzip`)).body).toHaveLength(limit);
    await expect(ask(`${base}/more`)).rejects.toThrow(new EgressError("The answer is larger than 1 MiB"));
    await expect(ask(`${base}/more-gzip`)).rejects.toThrow(new EgressError("The answer is larger than 1 MiB"));
    await expect(ask(base, { maxBytes: 100 })).rejects.toThrow(new EgressError("The answer is larger than 100 bytes"));
  });

  test("is refused while large ones use all memory for answers, unless it is small", async () => {
    const { ask, serve } = internet({}, { unfinished: unfinishedAnswers({ most: 300_000, mostOfOne: 300_000 }) });
    const begun: http.ServerResponse[] = [];
    const base = await serve(({ url }, response) => {
      if (url !== "/large") return response.end("small");
      response.write(Buffer.alloc(200_000, "a"));
      return begun.push(response);
    });
    const large = [ask(`${base}/large`), ask(`${base}/large`)];
    await expect(Promise.race(large)).rejects.toThrow(new EgressError(tooMuchAtATime));
    expect((await ask(`${base}/small`)).body).toBe("small");
    for (const response of begun) response.end();
    expect((await Promise.any(large)).body).toHaveLength(200_000);
    // Complete and refused answers hold no memory.
    const next = ask(`${base}/large`);
    await expect.poll(() => begun.length).toBe(3);
    begun[2]?.end("b");
    expect((await next).body).toHaveLength(200_001);
  });

  test("is refused to an owner while that owner's other answers use its share, and read for another one", async () => {
    const { ask, serve } = internet({}, { unfinished: unfinishedAnswers({ most: 600_000, mostOfOne: 300_000 }) });
    const base = await serve(({ url }, response) => {
      if (url === "/whole") response.end(Buffer.alloc(100_000, "a"));
      else response.write(Buffer.alloc(60_000, "a"));
    });
    const stop = new AbortController();
    const stalled = Array.from({ length: 4 }, () => ask(`${base}/stalled`, { owner: "one", signal: stop.signal }));
    const whole = (owner: string) =>
      ask(`${base}/whole`, { owner }).then(
        ({ body }) => body.length,
        (error: EgressError) => error.message,
      );
    await expect.poll(() => whole("one")).toBe(tooMuchAtATime);
    expect(await whole("other")).toBe(100_000);
    stop.abort();
    await Promise.allSettled(stalled);
    expect(await whole("one")).toBe(100_000);
  });

  test("that is a decompression bomb is not unpacked", async () => {
    const { ask, serve } = internet();
    // Members of 1 MiB each, one after the other.
    const bomb = Buffer.concat(Array<Buffer>(900).fill(gzipSync(Buffer.alloc(limit))));
    expect(bomb.length).toBeLessThan(limit);
    const base = await serve(({ url }, response) => {
      const twice = url === "/twice";
      const coding = { "Content-Encoding": twice ? "gzip, gzip" : "gzip" };
      response.writeHead(200, coding).end(twice ? gzipSync(bomb) : bomb);
    });
    const before = process.resourceUsage().maxRSS;
    await expect(ask(base)).rejects.toThrow("The answer is larger than 1 MiB");
    await expect(ask(`${base}/twice`)).rejects.toThrow("The answer is larger than 1 MiB");
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(200_000);
  });

  test("without an end is cut off, and its connection closed", async () => {
    const { ask, serve } = internet();
    let closed: Promise<unknown> = Promise.resolve();
    const base = await serve((_, response) => {
      closed = closing(response);
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on("drain", write);
      write();
    });
    await expect(ask(base)).rejects.toThrow("The answer is larger than 1 MiB");
    await closed;
  });

  test("to HEAD and one without a body are empty", async () => {
    const { ask, serve } = internet();
    const base = await serve((_, response) =>
      response.writeHead(200, { "Content-Length": "99999999", "Content-Encoding": "gzip" }).end(),
    );
    expect(await ask(base, { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
    const empty = await serve((_, response) => response.writeHead(204).end());
    expect(await ask(empty)).toMatchObject({ status: 204, body: "" });
  });

  test("of an old server ends with its connection", async () => {
    const { ask, speak } = internet();
    const base = await speak((socket) => socket.end("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold"));
    expect(await ask(base)).toMatchObject({ status: 200, body: "old" });
  });

  test("names each header once, and a failure is an answer too", async () => {
    const { ask, serve } = internet();
    const base = await serve((_, response) => response.writeHead(500, { "Set-Cookie": ["a=1", "b=2"] }).end("oh"));
    expect(await ask(base)).toMatchObject({ status: 500, headers: { "set-cookie": "a=1, b=2" }, body: "oh" });
  });
});

describe("a host that misbehaves", () => {
  const flood = (line: string) => (socket: Socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write(line.repeat(100)));
    };
    socket.on("drain", write);
    write();
  };

  test.each<[string, (socket: Socket) => void, string]>([
    ["closes at once", (s) => s.end(), "The host closed the connection without an answer"],
    ["resets", (s) => s.resetAndDestroy(), "The host closed the connection without an answer"],
    ["speaks nonsense", (s) => s.end("SSH-2.0-OpenSSH\r\n"), "The answer is no valid HTTP"],
    [
      "gives two lengths",
      (s) => s.end("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
      "The answer is no valid HTTP",
    ],
    [
      "switches protocols",
      (s) => s.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
      "The host answered in another protocol than HTTP",
    ],
    [
      "stops half-way",
      (s) => s.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"),
      "The connection broke before the answer was whole",
    ],
    [
      "stops within a chunk",
      (s) => s.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal"),
      "The connection broke before the answer was whole",
    ],
    [
      "sends headers without end",
      (s) => {
        s.write("HTTP/1.1 200 OK\r\n");
        flood("A: b\r\n")(s);
      },
      "The headers of the answer are larger than 16 KiB",
    ],
    [
      "sends trailers without end",
      (s) => {
        s.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
        flood("A: b\r\n")(s);
      },
      "The connection broke before the answer was whole",
    ],
    [
      "sends preliminary answers without end",
      flood("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
      "The host sent no end of preliminary answers",
    ],
    [
      "asks to continue without end",
      flood("HTTP/1.1 100 Continue\r\n\r\n"),
      "The host sent no end of preliminary answers",
    ],
  ])("%s: one error, and the connection is closed", async (_, talk, message) => {
    const { ask, speak } = internet();
    let closed: Promise<unknown> = Promise.resolve();
    const base = await speak((socket) => {
      closed = closing(socket);
      talk(socket);
    });
    await expect(ask(base)).rejects.toThrow(new EgressError(message));
    await closed;
  });

  test("no server listens there", async () => {
    const { ask } = internet({ "dead.test": [deadAddress] });
    await expect(ask("http://dead.test:9/")).rejects.toThrow(new EgressError("The host refused the connection"));
  });

  test.each([
    ["never answers", ""],
    ["sends a header without end", "HTTP/1.1 200 OK\r\nA: "],
    ["sends a body without end", "HTTP/1.1 200 OK\r\n\r\nslow"],
  ])("%s: after 15 seconds it is given up, redirects included", async (_, start) => {
    const { ask, serve, speak, clock } = internet();
    const arrived = Promise.withResolvers<Socket>();
    const slow = await speak((socket) => {
      socket.write(start);
      arrived.resolve(socket);
    });
    const base = await serve((_, response) => response.writeHead(302, { Location: slow }).end());
    const answer = ask(base);
    answer.catch(() => {});
    const socket = await arrived.promise;
    await clock.advance(14_999);
    expect(socket.destroyed).toBe(false);
    const closed = closing(socket);
    await clock.advance(1);
    await expect(answer).rejects.toThrow(new EgressError("There was no whole answer within 15 seconds"));
    await closed;
  });
});

describe("a request that is stopped", () => {
  test("by its caller closes the connection", async () => {
    const { ask, speak } = internet();
    const arrived = Promise.withResolvers<Socket>();
    const base = await speak((socket) => arrived.resolve(socket));
    const controller = new AbortController();
    const answer = ask(base, { signal: controller.signal });
    answer.catch(() => {});
    const socket = await arrived.promise;
    const closed = closing(socket);
    controller.abort("a reason of the caller's");
    await expect(answer).rejects.toThrow(new EgressError("The request was stopped"));
    await closed;
  });

  test("before it began goes nowhere", async () => {
    const { ask, serve, dialled } = internet();
    const base = await serve((_, response) => response.end());
    await expect(ask(base, { signal: AbortSignal.abort() })).rejects.toThrow("The request was stopped");
    expect(dialled).toEqual([]);
  });

  test("while the resolver hangs connects to nothing afterwards", async () => {
    const found = Promise.withResolvers<string[]>();
    const { ask, clock, dialled, resolved } = internet({ "slow.test": () => found.promise });
    const answer = ask("http://slow.test/", { timeoutMs: 2_500 });
    answer.catch(() => {});
    await clock.advance(2_500);
    await expect(answer).rejects.toThrow(new EgressError("There was no whole answer within 2.5 seconds"));
    expect(resolved).toEqual(["slow.test"]);
    found.resolve([publicAddress]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(dialled).toEqual([]);
  });
});

describe("a redirect", () => {
  const secret = { Authorization: "Bearer s3cret", Cookie: "id=s3cret", "X-Api-Key": "s3cret", Accept: "text/csv" };

  test("is followed five times, and no more", async () => {
    const { ask, serve, asked } = internet();
    const base = await serve(({ url }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end("there");
      else response.writeHead(302, { Location: `${left - 1}` }).end();
    });
    expect(await ask(`${base}/5`)).toMatchObject({ status: 200, body: "there", url: `${base}/0` });
    expect(asked).toHaveLength(6);
    await expect(ask(`${base}/6`)).rejects.toThrow(new EgressError("There are more than 5 redirects"));
    expect(asked).toHaveLength(12);
  });

  test("is not read: its connection is closed, although its body has no end", async () => {
    const { ask, serve } = internet();
    let closed: Promise<unknown> = Promise.resolve();
    const base = await serve(({ url }, response) => {
      if (url === "/there") return response.end("there");
      closed = closing(response);
      response.writeHead(302, { Location: "/there" }).write("endless");
    });
    expect((await ask(base)).body).toBe("there");
    await closed;
  });

  test("within the origin keeps everything, even when it is sensitive", async () => {
    const { ask, serve, asked } = internet();
    const base = await serve(({ url }, response) => {
      if (url === "/") response.writeHead(307, { Location: "/next" }).end();
      else response.end("there");
    });
    const answer = await ask(base, { method: "POST", headers: secret, body: "s3cret", sensitive: true });
    expect(answer.body).toBe("there");
    expect(asked[1]).toMatchObject({ method: "POST", url: "/next", body: "s3cret" });
    expect(asked[1]?.headers).toMatchObject({ authorization: "Bearer s3cret", "x-api-key": "s3cret" });
  });

  test("to another origin takes no credentials along, not even back", async () => {
    const { ask, serve, asked } = internet();
    const base = await serve(({ url }, response) => {
      const other = `http://other.test:${new URL(base).port}`;
      if (url === "/") response.writeHead(302, { Location: `${other}/away` }).end();
      else if (url === "/away") response.writeHead(302, { Location: `${base}/back` }).end();
      else response.end("there");
    });
    expect((await ask(base, { headers: secret })).body).toBe("there");
    expect(asked.map(({ url }) => url)).toEqual(["/", "/away", "/back"]);
    expect(JSON.stringify(asked[0])).toContain("s3cret");
    expect(JSON.stringify(asked.slice(1))).not.toContain("s3cret");
    expect(asked[2]?.headers).toMatchObject({ accept: "text/csv" });
  });

  test("to another origin is the answer when the request is sensitive", async () => {
    const { ask, serve, asked } = internet();
    const away = "http://other.test/away";
    const base = await serve((_, response) => response.writeHead(302, { Location: away }).end("moved"));
    expect(await ask(base, { sensitive: true })).toMatchObject({
      status: 302,
      headers: { location: away },
      body: "moved",
    });
    expect(asked).toHaveLength(1);
  });

  test("from https to http is followed by a plain question only", async () => {
    const { ask, serve, asked } = internet();
    const plain = await serve((_, response) => response.end("plain"));
    const base = await serve((_, response) => response.writeHead(307, { Location: plain }).end(), { secure: true });
    expect((await ask(base)).body).toBe("plain");
    expect(await ask(base, { headers: { authorization: "s3cret" } })).toMatchObject({ status: 307 });
    expect(await ask(base, { method: "POST", body: "s3cret" })).toMatchObject({ status: 307 });
    expect(asked.filter(({ headers }) => headers.host === new URL(plain).host)).toHaveLength(1);
  });
});

test("no failure reveals the value of a header", async () => {
  const { ask, serve, speak } = internet();
  const headers = { Authorization: "Bearer s3cret" };
  const echo = await speak((socket) => socket.end("Bearer s3cret\r\n"));
  const loop = await serve((_, response) => response.writeHead(302, { Location: "/", "X-Echo": "s3cret" }).end());
  const bad = ["http://nobody.test/", "http://127.0.0.1/", "http://public.test:1/", echo, loop, "s3cret://x"];
  const failures = bad.map((url) => ask(url, { headers }));
  const wrong = { ...headers, "X-Other": "s3cret\r\nHost: x", "s3cret: x": "y" };
  failures.push(ask(loop, { headers: wrong }), ask(loop, { headers: { "s3cret x": "y" } }));
  for (const failure of await Promise.allSettled(failures)) {
    const error: unknown = failure.status === "rejected" ? failure.reason : null;
    expect(error).toBeInstanceOf(EgressError);
    expect(String(error)).not.toContain("s3cret");
    expect(error).not.toHaveProperty("cause");
  }
});
