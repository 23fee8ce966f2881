import { expect, test } from "vitest";
import { localNotify } from "../../src/core/notify.ts";
import { collectLog, silent } from "../embedded.ts";

test("every listener of the topic hears a message before publish returns, and no other one does", () => {
  const notify = localNotify(silent);
  const heard: string[] = [];
  notify.listen("work-due", (key) => heard.push(`one ${key}`));
  notify.listen("work-due", (key) => heard.push(`two ${key}`));
  notify.listen("agent-changed", (key) => heard.push(`other ${key}`));
  notify.publish("work-due", "a");
  notify.publish("work-due", "b");
  expect(heard).toEqual(["one a", "two a", "one b", "two b"]);
});

test("a listener hears nothing after its end, and the same function listens as often as it was given", () => {
  const notify = localNotify(silent);
  const heard: string[] = [];
  const hear = (key: string) => void heard.push(key);
  const [endOne, endTwo] = [notify.listen("work-due", hear), notify.listen("work-due", hear)];
  notify.publish("work-due", "a");
  endOne();
  endOne();
  notify.publish("work-due", "b");
  endTwo();
  notify.publish("work-due", "c");
  expect(heard).toEqual(["a", "a", "b"]);
});

test("a listener that throws or rejects is logged, and keeps no message from the others", async () => {
  const { log, lines } = collectLog();
  const notify = localNotify(log);
  const heard: string[] = [];
  notify.listen("turn-stopped", () => {
    throw new Error("sudden");
  });
  notify.listen("turn-stopped", async () => Promise.reject(new Error("later")));
  notify.listen("turn-stopped", (key) => heard.push(key));
  notify.publish("turn-stopped", "a");
  expect(heard).toEqual(["a"]);
  await expect.poll(() => lines).toEqual(["A listener failed", "A listener failed"]);
});

test("listeners may begin, end and publish while they hear", () => {
  const notify = localNotify(silent);
  const heard: string[] = [];
  const end = notify.listen("work-due", (key) => {
    heard.push(`one ${key}`);
    end();
    endThree();
    notify.listen("work-due", (later) => heard.push(`two ${later}`));
    notify.publish("work-due", "inner");
  });
  const endThree = notify.listen("work-due", (key) => heard.push(`three ${key}`));
  notify.publish("work-due", "outer");
  expect(heard).toEqual(["one outer", "two inner"]);
});

test("a gap is reported to all listeners that asked for it", () => {
  const notify = localNotify(silent);
  const told: string[] = [];
  const hear = () => void told.push("heard");
  notify.listen("work-due", hear, () => told.push("one"));
  notify.listen("agent-changed", hear, () => told.push("two"));
  notify.listen("agent-changed", hear);
  notify.listen("agent-changed", hear, () => told.push("three"))();
  notify.gap();
  expect(told).toEqual(["one", "two"]);
});

test("a notification without listeners is fine, also after the end", async () => {
  const notify = localNotify(silent);
  notify.publish("of-another-release", "a");
  await notify.close();
  const heard: string[] = [];
  notify.listen("work-due", (key) => heard.push(key));
  notify.publish("work-due", "a");
  expect(heard).toEqual(["a"]);
});
