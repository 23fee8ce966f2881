import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { unfinishedAnswers } from "../../src/core/egress/unfinished.ts";
import { TestClock } from "../clock.ts";
import { processorTime } from "../processor-time.ts";
import { canary, connections, giveUpAfter, http, never, server, tool } from "./mcp-servers.ts";

interface Message {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
}

interface Asked {
  verb: string;
  message: Message;
  headers: IncomingMessage["headers"];
}

type Answer = (asked: Asked, response: ServerResponse) => void;

const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "nasty", version: "1" },
};
const text = (value: string) => ({ content: [{ type: "text", text: value }] });

function say(response: ServerResponse, message: object, status = 200): void {
  response.writeHead(status, { "Content-Type": "application/json", "Mcp-Session-Id": "session-1" });
  response.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

const usual: Record<string, Answer> = {
  initialize: ({ message: { id } }, response) => say(response, { id, result: initialized }),
  "notifications/initialized": (_, response) => response.writeHead(202).end(),
  "tools/list": ({ message: { id } }, response) => say(response, { id, result: { tools: [{ ...tool("call") }] } }),
  "tools/call": ({ message: { id } }, response) => say(response, { id, result: text("usual") }),
};

/** A server on this machine that answers as told, and the requests it got. */
async function answering(own: Record<string, Answer> = {}) {
  const asked: Asked[] = [];
  const web = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { method: verb = "", headers } = request;
    const one = { verb, message: body === "" ? {} : (JSON.parse(body) as Message), headers };
    asked.push(one);
    const answer = { ...usual, ...own }[one.message.method ?? verb];
    if (answer) answer(one, response);
    else response.writeHead(405).end();
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    web.closeAllConnections();
    web.close();
  });
  const { port } = web.address() as AddressInfo;
  const known = server(http(`http://127.0.0.1:${port}/mcp`, { Authorization: `Bearer ${canary}` }));
  return { asked, known, port };
}

async function calling(atCall: Answer, signal = never) {
  const { mcp, logs } = connections();
  const { known, asked } = await answering({ "tools/call": atCall });
  return { mcp, logs, known, asked, answer: mcp.call(known, tool("call"), {}, signal) };
}

const stream = (response: ServerResponse) => response.writeHead(200, { "Content-Type": "text/event-stream" });
const event = (message: object) => `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;

describe("a server over HTTP", () => {
  test("is asked with its credentials, in one session, which is ended", async () => {
    const { mcp } = connections();
    const { known, asked } = await answering();
    expect(await mcp.list(known, 256)).toEqual([tool("call")]);
    expect(await mcp.call(known, tool("call"), { a: 1 }, never)).toBe("usual");
    await mcp.close();
    expect(asked.map(({ verb, message: { method = null } }) => [verb, method])).toEqual([
      ["POST", "initialize"],
      ["POST", "notifications/initialized"],
      ["POST", "tools/list"],
      ["POST", "tools/call"],
      ["DELETE", null],
    ]);
    for (const { headers } of asked) expect(headers.authorization).toBe(`Bearer ${canary}`);
    expect(asked[0]?.headers["mcp-session-id"]).toBeUndefined();
    for (const { headers } of asked.slice(1)) expect(headers["mcp-session-id"]).toBe("session-1");
    expect(asked[3]?.message.params).toEqual({ name: "call", arguments: { a: 1 } });
  });

  test("answers in a stream, among many messages for others", async () => {
    const { asked, answer } = await calling(({ message: { id = 0 } }, response) => {
      stream(response).write(": hello\r\nid: 1\r\ndata:\r\n\r\n");
      response.write(event({ method: "notifications/message", params: { data: "x" } }));
      response.write(event({ id: 99, method: "ping" }));
      response.write(event({ id: id + 1, result: text("of another") }));
      response.write("data: no json\n\n");
      const answer = event({ id, result: text("Grüße") });
      // In pieces, one of them in the middle of a character, and the stream stays open.
      const bytes = Buffer.from(answer);
      for (const byte of bytes) response.write(Buffer.from([byte]));
    });
    expect(await answer).toBe("Grüße");
    expect(asked.filter(({ message: { method } }) => method === undefined)).toEqual([]);
  });

  test("floods a stream with events: empty ones do not count, of others there are 1,000, and other calls continue", async () => {
    let longest = 0;
    let taken = processorTime();
    const watch = setInterval(() => {
      longest = Math.max(longest, taken());
      taken = processorTime();
    }, 5);
    onTestFinished(() => clearInterval(watch));
    const empty = await calling(({ message: { id } }, response) => {
      stream(response).end("data:\n\n".repeat(400_000) + event({ id, result: text("at last") }));
    });
    expect(await empty.answer).toBe("at last");
    expect(longest).toBeLessThan(1_000);
    const flood = await calling((_, response) => void stream(response).end("data: x\n\n".repeat(1_001)));
    await expect(flood.answer).rejects.toThrow("The server sent more than 1000 events in one answer");
    const enough = await calling(({ message: { id } }, response) => {
      stream(response).end("data: x\n\n".repeat(999) + event({ id, result: text("the last one") }));
    });
    expect(await enough.answer).toBe("the last one");
  });

  test("sends only padding and costs little time", async () => {
    const taken = processorTime();
    const { answer } = await calling(({ message: { id } }, response) => {
      const data = `${"=".repeat(40_000)}x`;
      say(response, { id, result: { content: [{ type: "audio", mimeType: "audio/wav", data }] } });
    });
    expect(await answer).toBe("[audio, audio/wav, 30000 bytes]");
    expect(taken()).toBeLessThan(1_000);
  });

  test("repeats a credential where its text is cut, and no part of it stays", async () => {
    const secret = "0123456789abcdefghijklmnopqrstuvwxyz";
    const { mcp } = connections();
    for (const [status, before] of [
      [500, 280],
      [200, 960],
    ] as const) {
      const { known } = await answering({
        "tools/call": ({ message: { id } }, response) =>
          say(response, { id, error: { code: 1, message: `${"x".repeat(before)}${secret}` } }, status),
      });
      const call = mcp.call({ ...known, id: `acme:${status}`, secrets: [secret] }, tool("call"), {}, never);
      const words = await call.then(String, (error: Error) => error.message);
      expect(words).toContain("xxxx");
      expect(words).not.toContain("012");
    }
  });

  test("lists its tools in pages, but no more of them than enough", async () => {
    const { mcp } = connections();
    const { known, asked } = await answering({
      "tools/list": ({ message: { id, params } }, response) => {
        const page = Number(params?.cursor ?? 0);
        say(response, { id, result: { tools: [tool(`tool-${page}`)], nextCursor: String(page + 1) } });
      },
    });
    expect((await mcp.list(known, 20)).map(({ name }) => name)).toHaveLength(21);
    expect(asked.filter(({ message: { method } }) => method === "tools/list")).toHaveLength(21);
  });

  test("is asked for no more pages once they reach the size of one answer", async () => {
    const { mcp } = connections();
    const large = { ...tool("large"), description: "x".repeat(1024 * 1024) };
    const { known, asked } = await answering({
      "tools/list": ({ message: { id } }, response) =>
        say(response, { id, result: { tools: [large], nextCursor: "x" } }),
    });
    await expect(mcp.list(known, 256)).rejects.toThrow("The server's tools are larger than 4096 KiB");
    expect(asked.filter(({ message: { method } }) => method === "tools/list")).toHaveLength(4);
  });

  test("has pages without an end and without a tool: that is the end", async () => {
    const { mcp } = connections();
    const { known } = await answering({
      "tools/list": ({ message: { id } }, response) => say(response, { id, result: { tools: [], nextCursor: "x" } }),
    });
    expect(await mcp.list(known, 20)).toEqual([]);
  });

  test("that forgets the session is connected to anew, and nothing is done twice", async () => {
    for (const status of [404, 400]) {
      let forgotten = 0;
      const { asked, answer } = await calling(({ message: { id } }, response) => {
        forgotten += 1;
        if (forgotten > 1) say(response, { id, result: text("known again") });
        else say(response, { id, error: { code: -32_000, message: "No valid session" } }, status);
      });
      expect(await answer).toBe("known again");
      expect(asked.filter(({ message: { method } }) => method === "initialize")).toHaveLength(2);
    }
    const { answer } = await calling(({ message: { id } }, response) =>
      say(response, { id, error: { code: -32_000, message: "No valid session" } }, 404),
    );
    await expect(answer).rejects.toThrow("No valid session");
  });

  test.each<[number, object | string]>([
    [401, ""],
    [409, "Session not found"],
    [500, "Unknown session: session-1"],
    [503, "session-1 is no valid session, for the session has expired"],
    [200, { error: { code: -32_001, message: "Session not found" } }],
    [200, { error: { code: -32_600, message: "Session terminated" } }],
    [200, { id: null, error: { code: -32_000, message: "Bad Request: No valid session ID provided" } }],
  ])("that says so with %i and %j is connected to anew once", async (status, said) => {
    let calls = 0;
    const { asked, answer } = await calling(({ message: { id } }, response) => {
      calls += 1;
      if (calls > 1) say(response, { id, result: text("known again") });
      else if (typeof said === "string") response.writeHead(status).end(said);
      else say(response, { id, ...said }, status);
    });
    expect(await answer).toBe("known again");
    expect(asked.filter(({ message: { method } }) => method === "initialize")).toHaveLength(2);
  });

  test.each<[number, object]>([
    [500, { error: { code: -32_603, message: "The database is away" } }],
    [503, { error: { code: -32_000, message: "Overloaded" } }],
    [200, { error: { code: -32_603, message: "Your session with the bank expired" } }],
  ])("that fails with %i and %j is asked once", async (status, said) => {
    const { asked, answer } = await calling(({ message: { id } }, response) => say(response, { id, ...said }, status));
    await expect(answer).rejects.toThrow();
    expect(asked.filter(({ message: { method } }) => method === "tools/call")).toHaveLength(1);
  });

  test("that writes null for absent fields is understood, and one odd tool hides no other", async () => {
    const { mcp } = connections();
    const { known } = await answering({
      initialize: ({ message: { id } }, response) =>
        say(response, { id, result: { ...initialized, instructions: null, _meta: null } }),
      "tools/list": ({ message: { id } }, response) => {
        const odd = [
          { name: "nulls", description: null, inputSchema: { type: "object", properties: null, required: null } },
          { name: "no-schema" },
          { name: "text", title: "A text", inputSchema: { type: "string" }, annotations: null },
          { description: "no name" },
          "none",
        ];
        const sound = { ...tool("call"), inputSchema: { type: "object", properties: { a: { default: null } } } };
        say(response, { id, result: { tools: [...odd, sound], nextCursor: null, _meta: null } });
      },
      "tools/call": ({ message: { id } }, response) => {
        const content = [{ type: "text", text: "done", annotations: null, _meta: null }];
        say(response, { id, error: null, result: { content, structuredContent: null, isError: null, _meta: null } });
      },
    });
    expect(await mcp.list(known, 256)).toEqual([
      { name: "nulls", description: "", inputSchema: { type: "object", required: null } },
      { name: "no-schema", description: "", inputSchema: { type: "object" } },
      { name: "text", description: "A text", inputSchema: { type: "object" } },
      { name: "", description: "no name", inputSchema: { type: "object" } },
      { name: "", description: "", inputSchema: { type: "object" } },
      { name: "call", description: "", inputSchema: { type: "object", properties: { a: { default: null } } } },
    ]);
    expect(await mcp.call(known, tool("call"), {}, never)).toBe("done");
  });

  test("that ends its list with an empty cursor is asked for it once", async () => {
    const { mcp } = connections();
    const { known, asked } = await answering({
      "tools/list": ({ message: { id } }, response) =>
        say(response, { id, result: { tools: [tool("call")], nextCursor: "" } }),
    });
    expect(await mcp.list(known, 256)).toHaveLength(1);
    expect(asked.filter(({ message: { method } }) => method === "tools/list")).toHaveLength(1);
  });

  test.each([
    [{ content: null }, ""],
    [{ content: null, structuredContent: { n: 1 } }, { n: 1 }],
    [{ structuredContent: { n: 1 } }, { n: 1 }],
  ])("that answers a call with %j is understood", async (result, expected) => {
    const { answer } = await calling(({ message: { id } }, response) => say(response, { id, result }));
    expect(await answer).toEqual(expected);
  });

  test("that only speaks HTTP+SSE gets an error that says so", async () => {
    const { mcp } = connections();
    const { known } = await answering({ initialize: (_, response) => response.writeHead(405).end() });
    await expect(mcp.list(known, 256)).rejects.toThrow(/older HTTP\+SSE transport, it can't be used: .* often \/mcp/);
  });

  test("that rejects a request by a 400 is asked once, and its error text is used", async () => {
    const { asked, answer } = await calling(({ message: { id } }, response) =>
      say(response, { id, error: { code: -32_602, message: "There is no region xy" } }, 400),
    );
    await expect(answer).rejects.toThrow("There is no region xy");
    expect(asked.filter(({ message: { method } }) => method === "tools/call")).toHaveLength(1);
  });

  test("that knows only the newer protocol is addressed in that", async () => {
    const { mcp } = connections();
    const refuse: Answer = ({ message: { id } }, response) =>
      say(response, { id, error: { code: -32_022, message: "Unsupported", data: { supported: ["2026-07-28"] } } }, 400);
    const schema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    const complete = { resultType: "complete" };
    const discovered = { ...complete, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
    const { known, asked } = await answering({
      initialize: refuse,
      "server/discover": ({ message: { id } }, response) => say(response, { id, result: discovered }),
      "tools/call": ({ message: { id } }, response) => say(response, { id, result: { ...complete, ...text("new") } }),
    });
    expect(await mcp.call(known, { ...tool("call"), inputSchema: schema }, { region: "eu" }, never)).toBe("new");
    expect(asked.at(-1)?.headers).toMatchObject({ "mcp-param-region": "eu", "mcp-name": "call" });
  });
});

describe("a server over HTTP that", () => {
  const dies = (message: string, atCall: Answer) => async () => {
    const { mcp, known, answer } = await calling(atCall);
    await expect(answer).rejects.toThrow(message);
    expect(await mcp.list(known, 256)).toHaveLength(1);
  };

  test(
    "closes the stream without an answer",
    dies("closed the stream before it answered", (_, response) => stream(response).end(event({ method: "x" }))),
  );
  test(
    "is gone in the middle of an answer",
    dies("The host closed the connection without an answer", (_, response) => {
      stream(response).write("data: {");
      setTimeout(() => response.destroy(), 20);
    }),
  );
  test(
    "answers another request's id",
    dies("is no answer to the request", ({ message: { id = 0 } }, response) =>
      say(response, { id: id + 1, result: text("wrong") }),
    ),
  );
  test(
    "accepts a request and never answers",
    dies("answers with something else, not JSON", (_, response) => response.writeHead(202).end()),
  );
  test(
    "answers with a page",
    dies("answers with text/html, not JSON: is this the address of an MCP server?", (_, response) =>
      response.writeHead(200, { "Content-Type": "text/html" }).end("<p>Welcome"),
    ),
  );
  test(
    "answers with no JSON",
    dies("is no answer to the request", (_, response) =>
      response.writeHead(200, { "Content-Type": "application/json" }).end('{"jsonrpc":'),
    ),
  );
  test(
    "answers with no result",
    dies("The server's answer is not as the protocol wants it: content", ({ message: { id } }, response) =>
      say(response, { id, result: { content: "text" } }),
    ),
  );
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  test.each([
    [100, "The tool's result is nested too deeply"],
    [600, "The server's answer is nested more than 500 levels deep"],
    [100_000, "The server's answer is nested more than 500 levels deep"],
  ])("answers in %i levels", async (levels, message) => {
    for (const type of ["application/json", "text/event-stream"]) {
      await dies(message, ({ message: { id } }, response) => {
        const answer = `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":${nested(levels)}}}}`;
        const body = type === "application/json" ? answer : `data: ${answer}\n\n`;
        response.writeHead(200, { "Content-Type": type }).end(body);
      })();
    }
  });
  const numbers = (count: number) => Array.from({ length: count }, () => 1);
  test.each([
    ["1,001 parts", numbers(1_001), "The server's answer has more than 1000 parts"],
    ["300,000 parts", numbers(300_000), "The server's answer holds more than 100000 values"],
  ])("answers with %s that are none", async (_, content, message) => {
    const taken = processorTime();
    await dies(message, ({ message: { id } }, response) => say(response, { id, result: { content } }))();
    expect(taken()).toBeLessThan(1_500);
  });

  test("lists more tools than are allowed", async () => {
    const { mcp } = connections();
    const { known } = await answering({
      "tools/list": ({ message: { id } }, response) => say(response, { id, result: { tools: numbers(10_001) } }),
    });
    await expect(mcp.list(known, 256)).rejects.toThrow("The server's answer lists more than 10000 tools");
  });

  test(
    "compresses unasked",
    dies("The server compresses its answers though it was asked not to", (_, response) =>
      response.writeHead(200, { "Content-Type": "application/json", "Content-Encoding": "gzip" }).end("x"),
    ),
  );
  test(
    "fails without a text",
    dies("The tool failed without saying why", ({ message: { id } }, response) =>
      say(response, { id, result: { content: [], isError: true } }),
    ),
  );

  test.each([
    ["application/json", (response: ServerResponse) => response.write("x".repeat(65_536))],
    ["text/event-stream", (response: ServerResponse) => response.write(event({ method: "x".repeat(65_536) }))],
  ])("sends 100 MB (%s) is cut off", async (type, more) => {
    let sent = 0;
    const { answer } = await calling((_, response) => {
      response.writeHead(200, { "Content-Type": type });
      const go = () => {
        while (sent < 100_000_000 && !response.destroyed) {
          sent += 65_536;
          if (!more(response)) return response.once("drain", go);
        }
        return response.end();
      };
      go();
    });
    await expect(answer).rejects.toThrow("The server's answer is larger than 4096 KiB");
    expect(sent).toBeLessThan(50_000_000);
  });

  test("redirects is not followed, and its credentials go nowhere", async () => {
    const elsewhere = await answering();
    const { mcp } = connections();
    const { known } = await answering({
      initialize: (_, response) =>
        response.writeHead(307, { Location: `http://127.0.0.1:${elsewhere.port}/mcp` }).end(),
    });
    await expect(mcp.list(known, 256)).rejects.toThrow(
      "The server redirects (HTTP 307): give the address that it redirects to",
    );
    expect(elsewhere.asked).toEqual([]);
  });

  test("refuses the credentials says so, and its echo of them is hidden", async () => {
    const { mcp, logs } = connections();
    const { known } = await answering({
      initialize: ({ headers }, response) => response.writeHead(401).end(`Bad token: ${headers.authorization}`),
    });
    await expect(mcp.list(known, 256)).rejects.toThrow(
      "The server refuses the credentials (HTTP 401): Bad token: Bearer [secret]",
    );
    expect(logs.join()).not.toContain(canary);
  });

  test("hangs is given up after 15 seconds, or whenever its caller aborts", async () => {
    const clock = new TestClock();
    const { mcp } = connections({ clock });
    const { known, asked } = await answering({ initialize: () => {} });
    const listing = mcp.list(known, 256);
    listing.catch(() => {});
    await expect.poll(() => asked.length).toBe(1);
    await clock.advance(15_000);
    await expect(listing).rejects.toThrow("The server did not answer within 15 seconds");

    let gone = false;
    const { answer } = await calling((_, response) => {
      response.on("close", () => {
        gone = true;
      });
    }, giveUpAfter(300));
    await expect(answer).rejects.toThrow();
    await expect.poll(() => gone).toBe(true);
  });

  test("does not answer the end of its session is dropped, so that no socket to it stays", async () => {
    const clock = new TestClock();
    const { mcp } = connections({ clock });
    let [ending, gone] = [false, false];
    const { known } = await answering({
      DELETE: (_, response) => {
        ending = true;
        response.on("close", () => {
          gone = true;
        });
      },
    });
    await mcp.list(known, 256);
    mcp.forget(known.id);
    await expect.poll(() => ending).toBe(true);
    await clock.advance(3_000);
    await expect.poll(() => gone).toBe(true);
  });
});

test("large answers that arrive at the same time share the process's memory bound, and small ones pass", async () => {
  const { mcp } = connections({ unfinished: unfinishedAnswers({ most: 300_000, mostOfOne: 300_000 }) });
  const begun: (() => void)[] = [];
  const { known } = await answering({
    "tools/call": ({ message: { id, params } }, response) => {
      if (params?.name === "small") return say(response, { id, result: text("small") });
      response.writeHead(200, { "Content-Type": "application/json" });
      const [head = "", end = ""] = JSON.stringify({ jsonrpc: "2.0", id, result: text("%") }).split("%");
      response.write(head + "x".repeat(200_000));
      begun.push(() => response.end(end));
    },
  });
  const call = (name: string) => mcp.call(known, tool(name), {}, never);
  const large = [call("large"), call("large")];
  await expect(Promise.race(large)).rejects.toThrow("Too many large answers come in at the same time");
  expect(await call("small")).toBe("small");
  for (const end of begun) end();
  expect(await Promise.any(large)).toHaveLength(200_000);
  // Complete, refused and aborted answers hold no memory.
  await expect(mcp.call(known, tool("large"), {}, giveUpAfter(300))).rejects.toThrow();
  const next = call("large");
  await expect.poll(() => begun.length).toBe(4);
  begun[3]?.();
  expect(await next).toHaveLength(200_000);
});

describe("an address that is not public", () => {
  test("takes the policy", async () => {
    const { mcp } = connections();
    const { known, asked } = await answering();
    const refused = /^The address is not public; an administrator may add \S+:\d+ to the policy httpAllowedHosts$/;
    await expect(mcp.list({ ...known, allowedHosts: [] }, 256)).rejects.toThrow(refused);
    expect(asked).toEqual([]);
    expect(await mcp.call(known, tool("call"), {}, never)).toBe("usual");
    // A revoked host is refused at once, connected or not.
    await expect(mcp.call({ ...known, allowedHosts: [] }, tool("call"), {}, never)).rejects.toThrow(refused);
  });

  test("is not reached by a name that was public a moment ago", async () => {
    const { asked, port } = await answering();
    const answers = [["93.184.215.14"], ["127.0.0.1"]];
    const { mcp } = connections({ resolve: async () => answers.shift() ?? [], dial: () => "127.0.0.1" });
    const known = server(http(`http://rebinding.test:${port}/mcp`), { allowedHosts: [] });
    await expect(mcp.list(known, 256)).rejects.toThrow("The address is not public");
    expect(asked.map(({ message }) => message.method)).toEqual(["initialize"]);
  });
});
