import {
  Bot,
  Brain,
  CalendarClock,
  type IconNode,
  MessageSquareReply,
  MessagesSquare,
  Send,
  ShieldCheck,
  Sparkles,
  UserRound,
  Webhook,
  Wrench,
} from "lucide";
import { memo } from "preact/compat";
import type { ActivityEvent } from "../../../client/index.ts";
import { hrefOf } from "../../data/route.ts";
import { Icon } from "../../ui/icon.tsx";
import { countText, language } from "../../ui/text/numbers.ts";

const icons: Readonly<Record<ActivityEvent["kind"], IconNode>> = {
  inbound: UserRound,
  outbound: Send,
  thinking: Sparkles,
  reply: MessageSquareReply,
  "tool-start": Wrench,
  "tool-end": Wrench,
  memory: Brain,
  cron: CalendarClock,
  webhook: Webhook,
  "agent-handoff": Bot,
  conversation: MessagesSquare,
  governance: ShieldCheck,
};

const looks = { ok: "good", failed: "bad", blocked: "warn", running: "" } as const;
const clock = new Intl.DateTimeFormat(language, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });

/** An event on one line, with details below when opened. Memoized, since a new event changes no older line. */
export const ActivityLine = memo(function ActivityLine({ event }: { event: ActivityEvent }) {
  const { ts, kind, text, instance, conversationId, status, durationMs, channel } = event;
  const date = new Date(ts);
  const previews = [event.argsPreview, event.resultPreview, event.responsePreview, event.memory?.content].filter(
    (preview) => preview !== undefined && preview !== "",
  );
  return (
    <li data-kind={kind}>
      <time dateTime={ts} title={day.format(date)}>
        {clock.format(date)}
      </time>
      <Icon of={icons[kind]} />
      <div>
        <a href={hrefOf(["agents", instance.slug])}>{instance.name}</a>
        {channel !== undefined && <span class="soft"> · {channel}</span>}{" "}
        {status !== undefined && <span class={`badge ${looks[status]}`}>{status}</span>} {text}
        {durationMs !== undefined && <span class="soft"> · {countText(durationMs)} ms</span>}
        {conversationId !== null && (
          <>
            {" "}
            <a class="soft" href={hrefOf(["conversations", conversationId])}>
              conversation
            </a>
          </>
        )}
        {previews.length > 0 && (
          <details>
            <summary class="soft">More</summary>
            {previews.map((preview, index) => (
              <pre key={index}>{preview}</pre>
            ))}
          </details>
        )}
      </div>
    </li>
  );
});
