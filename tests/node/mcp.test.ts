import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { TestClock } from "../clock.ts";
import {
  behaving,
  canary,
  connections,
  giveUpAfter,
  http,
  isRunning,
  never,
  reference,
  server,
  tool,
} from "./mcp-servers.ts";

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "mcp-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address ? address.port : 0;
}

/** The reference server over HTTP; resolves with its address and a function that ends it. */
async function everythingOverHttp(port?: number) {
  const chosen = port ?? (await freePort());
  const { command, args } = reference("everything");
  const child = spawn(command, [...args, "streamableHttp"], {
    env: { PATH: process.env.PATH, PORT: String(chosen) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const chunk of child.stderr) if (String(chunk).includes("listening on port")) break;
  child.stderr.resume();
  const stop = async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { url: `http://localhost:${chosen}/mcp`, port: chosen, stop };
}

describe("the reference server `everything`", () => {
  const transports = {
    stdio: async () => reference("everything"),
    http: async () => http((await everythingOverHttp()).url),
  };

  for (const [kind, transport] of Object.entries(transports)) {
    test(`lists its tools and answers calls over ${kind}`, async () => {
      const { mcp } = connections();
      const everything = server(await transport());
      const call = (name: string, args: unknown = {}) => mcp.call(everything, tool(name), args, never);
      const listed = await mcp.list(everything, 256);
      expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(["echo", "get-sum", "get-tiny-image"]));
      expect(listed.find(({ name }) => name === "echo")).toMatchObject({
        description: expect.stringContaining("Echo"),
        inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
      });
      expect(await call("echo", { message: "Grüße" })).toBe("Echo: Grüße");
      expect(await call("get-sum", { a: 2, b: 40 })).toContain("42");
      expect(await call("get-structured-content", { location: "Chicago" })).toEqual({
        temperature: 36,
        conditions: "Light rain / drizzle",
        humidity: 82,
      });
      expect(await call("get-tiny-image")).toMatch(/\[image, image\/png, \d+ bytes\]/);
      expect(await call("get-resource-reference", { resourceType: "Blob", resourceId: 1 })).toMatch(
        /\[demo:\/\/\S+, \S+, \d+ bytes\]/,
      );
      expect(await call("get-resource-links", { count: 2 })).toMatch(/\[link to [^:]+: demo:/);
      await expect(call("get-sum", { a: "two" })).rejects.toThrow(/validation|invalid/i);
      await expect(call("no-such-tool")).rejects.toThrow(/not found/i);
      const all = await Promise.all(["a", "b", "c", "d"].map((message) => call("echo", { message })));
      expect(all).toEqual(["Echo: a", "Echo: b", "Echo: c", "Echo: d"]);
    });

    test(`may be aborted in the middle of a call over ${kind}`, async () => {
      const { mcp } = connections();
      const everything = server(await transport());
      await mcp.list(everything, 256);
      const long = tool("trigger-long-running-operation");
      await expect(mcp.call(everything, long, { duration: 60, steps: 60 }, giveUpAfter(300))).rejects.toThrow();
      expect(await mcp.call(everything, tool("echo"), { message: "still here" }, never)).toBe("Echo: still here");
    });
  }

  test("gets nothing of the server's environment but PATH and HOME", async () => {
    const { mcp } = connections();
    const given = server(reference("everything", { API_TOKEN: canary }));
    const env = await mcp.call(given, tool("get-env"), {}, never);
    expect(Object.keys(JSON.parse(String(env))).sort()).toEqual(["API_TOKEN", "HOME", "PATH"]);
  });

  test("is connected to anew when it was restarted and lost the session", async () => {
    const { mcp } = connections();
    const first = await everythingOverHttp();
    const everything = server(http(first.url));
    const echo = () => mcp.call(everything, tool("echo"), { message: "x" }, never);
    expect(await echo()).toBe("Echo: x");
    await first.stop();
    await expect(echo()).rejects.toThrow("The host refused the connection");
    await everythingOverHttp(first.port);
    expect(await echo()).toBe("Echo: x");
  });
});

describe("the reference server `memory`", () => {
  test("remembers, and fails in its own words", async () => {
    const { mcp } = connections();
    const memory = server(reference("memory", { MEMORY_FILE_PATH: join(temporary(), "memory.json") }));
    const call = (name: string, args: unknown) => mcp.call(memory, tool(name), args, never);
    expect((await mcp.list(memory, 256)).map(({ name }) => name)).toContain("create_entities");
    const entities = [{ name: "Ada", entityType: "person", observations: ["likes engines"] }];
    await call("create_entities", { entities });
    expect(await call("search_nodes", { query: "engines" })).toMatchObject({ entities });
    const observations = [{ entityName: "Nobody", contents: ["x"] }];
    await expect(call("add_observations", { observations })).rejects.toThrow("Entity with name Nobody not found");
    expect(await call("read_graph", {})).toMatchObject({ entities });
  });
});

describe("a process that", () => {
  const call = (behaviour: string, signal = never, ...args: string[]) => {
    const { mcp, logs } = connections();
    const known = server(behaving(behaviour, ...args));
    return { mcp, logs, known, answer: mcp.call(known, tool("call"), {}, signal) };
  };

  test("prints other lines than messages is understood all the same", async () => {
    expect(await call("garbage").answer).toBe('"in spite of it"');
  });

  test("knows only the newer protocol is addressed in that", async () => {
    const { mcp, known, answer } = call("modern");
    expect(await answer).toBe('"modern"');
    expect(await mcp.list(known, 256)).toMatchObject([{ name: "call" }]);
  });

  test("takes its time to say that it knows the newer protocol is waited for", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const file = join(temporary(), "asked");
    const { answer } = call("modern", never, file);
    answer.catch(() => {});
    await expect.poll(() => existsSync(file)).toBe(true);
    vi.advanceTimersByTime(10_000);
    rmSync(file);
    expect(await answer).toBe('"modern"');
  });

  test("answers and ends is read to its end", async () => {
    expect(await call("last-words").answer).toBe('"last words"');
  });

  test("answers twice is read once, and the second isn't taken for the answer to the next call", async () => {
    const { mcp, known, answer } = call("twice");
    expect(await answer).toBe('"first"');
    expect(await mcp.call(known, tool("call"), {}, never)).toBe('"first"');
  });

  test("notifies without end before it answers is read", async () => {
    expect(await call("notify").answer).toBe('"after all"');
  });

  test("sends requests without end is answered a while, and read", async () => {
    expect(await call("ask").answer).toBe('"asked"');
  });

  test.each(["flood", "endless"])("sends far more than was asked for is ended (%s)", async (behaviour) => {
    const before = process.memoryUsage().rss;
    const { mcp, known, answer } = call(behaviour);
    await expect(answer).rejects.toThrow("The server's process sent far more than it was asked for");
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    // It costs one error: the next call has a fresh process.
    await expect(mcp.call(known, tool("call"), {}, never)).rejects.toThrow("sent far more");
  });

  test("prints lines without end that are no messages is ended, and the error says why", async () => {
    const { mcp, known, answer } = call("bad-lines");
    const why = "printed 1,000 lines in a row that are no messages: its log belongs on its error stream";
    await expect(answer).rejects.toThrow(why);
    await expect(mcp.call(known, tool("call"), {}, never)).rejects.toThrow(why);
  });

  test("prints fewer of them between its messages is understood", async () => {
    expect(await call("some-bad-lines").answer).toBe('"between them"');
  });

  test("answers in 100,000 levels costs one error, which says so", async () => {
    const { mcp, known, answer } = call("deep");
    await expect(answer).rejects.toThrow("The server's process sent what is nested more than 500 levels deep");
    expect(await mcp.list(known, 256)).toHaveLength(1);
  });

  test("answers under other ids, or with no message, costs one error", async () => {
    const { mcp } = connections();
    const known = server(behaving("wrong-id"));
    await mcp.list(known, 256);
    const wrong = mcp.call(known, tool("call"), {}, giveUpAfter(300));
    await expect(wrong).rejects.toThrow("aborted due to timeout");
    await expect(call("no-message").answer).rejects.toThrow("its answer is no valid JSON-RPC message");
  });

  test("answers more than a model can read costs an error; a large picture is a note", async () => {
    await expect(call("parts").answer).rejects.toThrow("its answer has more than 1000 parts");
    await expect(call("large").answer).rejects.toThrow("The tool's result is larger than 1 MiB");
    expect(await call("picture").answer).toBe("[image, image/png, 2000000 bytes]");
  });

  test("ends in the middle of a call is started anew at the next, ever more rarely", async () => {
    const clock = new TestClock();
    const { mcp } = connections({ clock });
    const known = server(behaving("die"));
    const once = () => mcp.call(known, tool("call"), {}, never);
    await expect(once()).rejects.toThrow("The server's process ended with code 3");
    await expect(once()).rejects.toThrow("The server's process ended with code 3");
    await expect(once()).rejects.toThrow(/failed 2 times in a row and is tried again in 1 s; last: .*code 3/);
    await clock.advance(1_000);
    await expect(once()).rejects.toThrow("The server's process ended with code 3");
    await expect(once()).rejects.toThrow("failed 3 times in a row and is tried again in 2 s");
    // Listing its tools needs the current state.
    expect(await mcp.list(known, 256)).toHaveLength(1);
  });

  test("ends at once says why, without its credentials", async () => {
    const { answer, logs } = call("crash");
    await expect(answer).rejects.toThrow("The server's process ended with code 1: Error: no access with [secret]");
    expect(logs.join()).toContain("no access with [secret]");
    expect(logs.join()).not.toContain(canary);
  });

  test("writes without end to its error stream fills no log", async () => {
    const { answer, logs } = call("chatty");
    await answer;
    expect(logs.length).toBeLessThanOrEqual(201);
    expect(logs.at(-1)).toContain("No more of what it writes is logged");
    expect(logs.join()).not.toContain(canary);
  });

  test("hangs costs one call, after which a fresh one is started", async () => {
    const clock = new TestClock();
    const { mcp } = connections({ clock });
    const known = server(behaving("hang"));
    await mcp.list(known, 256);
    await expect(mcp.call(known, tool("call"), {}, giveUpAfter(300))).rejects.toThrow();
    const next = mcp.call(known, tool("call"), {}, never);
    next.catch(() => {});
    await clock.advance(5_000);
    await expect(next).rejects.toThrow("The server's process does not answer");
  });

  test("does not read its input is ended", async () => {
    const { mcp } = connections();
    const known = server(behaving("deaf"));
    const large = { text: "x".repeat(1_000_000) };
    const calls = Array.from({ length: 10 }, () => mcp.call(known, tool("call"), large, never));
    for (const answer of await Promise.allSettled(calls)) {
      expect(answer).toMatchObject({ reason: { message: "The server's process does not read what it is sent" } });
    }
  });

  test("is merely slow continues, and is told of the cancelled call", async () => {
    const clock = new TestClock();
    const { mcp } = connections({ clock });
    const file = join(temporary(), "heard");
    const known = server(behaving("slow", file));
    await mcp.list(known, 256);
    await expect(mcp.call(known, tool("call"), {}, giveUpAfter(300))).rejects.toThrow();
    const heard = () => readFileSync(file, { encoding: "utf8", flag: "a+" });
    await expect.poll(heard).toMatch(/^cancelled \d+\n$/);
    await clock.advance(5_000);
    expect((await mcp.list(known, 256)).length).toBe(1);
  });

  test("never answers is given up after 15 seconds", async () => {
    const clock = new TestClock();
    const { mcp } = connections({ clock });
    const listing = mcp.list(server(behaving("mute")), 256);
    listing.catch(() => {});
    await clock.advance(15_000);
    await expect(listing).rejects.toThrow("The server did not answer within 15 seconds");
  });

  test("can't be started says so", async () => {
    const { mcp } = connections();
    const none = server({ type: "stdio", command: "no-such-command", args: [], env: {} });
    await expect(mcp.list(none, 256)).rejects.toThrow("The command was not found on the server's PATH");
    const directory = server({ type: "stdio", command: tmpdir(), args: [], env: {} }, { id: "b" });
    await expect(mcp.list(directory, 256)).rejects.toThrow("may not be run by the server's user");
  });

  test("does not want to end is killed, with its children", async () => {
    const { mcp } = connections();
    const file = join(temporary(), "pids");
    await mcp.list(server(behaving("stubborn", file)), 256);
    const pids = readFileSync(file, "utf8").split(" ").map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await mcp.close();
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
    await expect(mcp.list(server(behaving("hang")), 256)).rejects.toThrow("The engine is stopping");
  });

  test("lists 10,000 tools is read", async () => {
    const { mcp } = connections();
    expect((await mcp.list(server(behaving("many")), 256)).length).toBeGreaterThan(256);
  });
});

describe("a connection", () => {
  const who = async (mcp: ReturnType<typeof connections>["mcp"], version: string) => {
    const answer = await mcp.call(server(behaving("count"), { version }), tool("call"), { x: 1 }, never);
    return JSON.parse(String(answer)) as { calls: number; pid: number; args: unknown };
  };

  test("serves call after call, until none came for ten minutes", async () => {
    const clock = new TestClock();
    const { mcp } = connections({ clock });
    const { pid } = await who(mcp, "1");
    await clock.advance(599_000);
    expect(await who(mcp, "1")).toEqual({ calls: 2, pid, args: { x: 1 } });
    await clock.advance(599_000);
    expect(await who(mcp, "1")).toMatchObject({ calls: 3, pid });
    await clock.advance(600_000);
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(await who(mcp, "1")).toMatchObject({ calls: 1 });
  });

  test("is a new one for another configuration, and closed when it is forgotten", async () => {
    const { mcp } = connections();
    const first = await who(mcp, "1");
    const second = await who(mcp, "2");
    expect(second).toMatchObject({ calls: 1 });
    await expect.poll(() => isRunning(first.pid)).toBe(false);
    mcp.forget("acme:test");
    await expect.poll(() => isRunning(second.pid)).toBe(false);
  });

  test("is made once for calls that come together", async () => {
    const { mcp } = connections();
    const all = await Promise.all([who(mcp, "1"), who(mcp, "1"), who(mcp, "1")]);
    expect(new Set(all.map(({ pid }) => pid)).size).toBe(1);
  });
});
