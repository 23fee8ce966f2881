import { describe, expect, test, vi } from "vitest";
import { EngineError } from "../../src/core/errors.ts";
import { createBoundedReads } from "../../src/db/bounded-reads.ts";
import { harness } from "../harness.ts";

const paths = ["/api/audit-logs?search=zzz", "/api/audit-logs/stats"];

describe("reads of the audit log", () => {
  test("are two at a time with eight that wait; the others get 429, and the rest of the server goes on", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const { database } = h.services;
    const gate = Promise.withResolvers<void>();
    const original = database.transaction;
    const began = vi.spyOn(database, "transaction").mockImplementation(async (fn) => {
      await gate.promise;
      return original(fn);
    });
    const answers: Response[] = [];
    const asked = Array.from({ length: 14 }, async (_, index) => {
      const answer = await h.request(paths[index % 2] ?? "", { headers: owner });
      answers.push(answer);
      return answer.status;
    });
    await expect.poll(() => answers.length).toBe(4);
    for (const answer of answers) {
      expect([answer.status, answer.headers.get("Retry-After")]).toEqual([429, "2"]);
      expect((await answer.json()).message).toBe("Too many audit queries at once");
    }
    expect(began).toHaveBeenCalledTimes(2);
    expect((await h.request("/api/me", { headers: owner })).status).toBe(200);

    gate.resolve();
    const statuses = await Promise.all(asked);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    for (const path of paths) expect((await h.request(path, { headers: owner })).status).toBe(200);
  });

  test("that wait begin in order, each as soon as any one before it ends", async () => {
    const { database } = (await harness()).services;
    // Two real connections may answer in either order.
    const tx = { execute: async () => [] } as never;
    vi.spyOn(database, "transaction").mockImplementation((fn) => fn(tx));
    const readLog = createBoundedReads({ what: "the audit log", query: "audit" });
    const begun: number[] = [];
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const reads = gates.map((gate, index) =>
      readLog(database, () => {
        begun.push(index);
        return gate.promise;
      }),
    );
    await expect.poll(() => begun).toEqual([0, 1]);
    gates[1]?.resolve();
    await expect.poll(() => begun).toEqual([0, 1, 2]);
    gates[2]?.resolve();
    await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
    for (const gate of gates) gate.resolve();
    await Promise.all(reads);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  test("that fail make room as well", async () => {
    const { database } = (await harness()).services;
    const readLog = createBoundedReads({ what: "the audit log", query: "audit" });
    for (let times = 0; times < 20; times += 1) {
      const failing = readLog(database, () => Promise.reject(new Error("broken")));
      await expect(failing).rejects.toThrow("broken");
    }
    expect(await readLog(database, async () => "well")).toBe("well");
  });

  test("have 5 seconds a statement where the database keeps deadlines, and say what to do after that", async () => {
    const { database } = (await harness()).services;
    const readLog = createBoundedReads({ what: "the audit log", query: "audit" });
    const deadline = (await readLog(database, (tx) => tx.execute("show statement_timeout")))[0];
    expect(deadline).toEqual({ statement_timeout: "5s" });
    const cause = Object.assign(new Error("canceling statement"), { code: "57014" });
    const late = readLog(database, () => Promise.reject(new EngineError("unavailable", "Late", { cause })));
    await expect(late).rejects.toMatchObject({
      status: 503,
      message: "Reading the audit log took too long: ask for a shorter period with from and to",
    });
  });
});
