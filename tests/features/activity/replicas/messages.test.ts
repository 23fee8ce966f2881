import fc from "fast-check";
import { expect, test } from "vitest";
import { toPayloads } from "../../../../src/adapters/notify/messages.ts";
import type { Activity } from "../../../../src/core/activity/activity.ts";
import { ActivityEvent } from "../../../../src/core/activity/event.ts";
import { newId } from "../../../../src/core/ids.ts";
import { read, toSent, write } from "../../../../src/features/activity/replicas/messages.ts";

const agent = { id: "a", slug: "a", name: "A", organizationId: "o", workspaceId: "w", iconVersion: null };
const eventOf = (more: Partial<Activity>) => {
  const activity: Activity = { kind: "tool-end", text: "Called", agent, conversationId: "c", ...more };
  return new ActivityEvent(activity, Date.UTC(2026, 0, 1), agent, activity.conversationId, 7);
};
const bytes = (text: string) => Buffer.byteLength(text);

test("an event that is too long for a notice of PostgreSQL is cut at its longest texts, and comes whole otherwise", () => {
  const long = fc.string({ unit: "binary", minLength: 0, maxLength: 1_500 });
  const events = fc.record({ text: long, argsPreview: long, resultPreview: long, responsePreview: long });
  fc.assert(
    fc.property(events, (texts) => {
      const event = eventOf(texts);
      const from = newId();
      const text = write(from, { type: "event", event: toSent(event), live: true });
      const payloads = toPayloads({ from, entries: [["activity", text]], gap: false });
      expect(payloads).toHaveLength(1);
      expect(payloads[0]).toContain('"gap":false');
      expect(bytes(payloads[0] ?? "")).toBeLessThan(7_999);
      const message = read(text)?.message;
      if (message?.type !== "event") throw new Error("It was not understood");
      const { data, ...sent } = message.event;
      expect(sent).toEqual({ number: 7, organizationId: "o", workspaceId: "w" });
      expect(data.conversationId).toBe("c");
      for (const [name, whole] of Object.entries(texts)) {
        const shown = String(data[name]);
        expect(shown.isWellFormed()).toBe(whole.isWellFormed());
        if (shown !== whole) expect(whole.startsWith(shown.slice(0, -2))).toBe(true);
      }
      if (bytes(JSON.stringify(JSON.stringify(texts))) < 6_500) expect(data).toMatchObject(texts);
    }),
    { numRuns: 25 },
  );
});

test("an unknown message, such as one of a later release, is ignored", () => {
  const from = newId();
  for (const odd of [
    "",
    " ",
    from,
    `${from} `,
    `${from} {}`,
    `${from} {"type":"later"}`,
    `${from} {"type":"gone","upTo":-1}`,
  ]) {
    expect(read(odd)).toBeNull();
  }
});
