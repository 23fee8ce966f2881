import { useSignal } from "@preact/signals";
import { CircleCheck, CircleX, TriangleAlert } from "lucide";
import { useEffect } from "preact/hooks";
import type { InstallationHealth, SchedulerHealth } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useAction } from "../../data/form/action.ts";
import { hrefOf } from "../../data/route.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Figure, Figures } from "../../ui/chart/figures.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Failure, Note } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { countText } from "../../ui/text/numbers.ts";
import { Time } from "../../ui/text/time.tsx";
import { Waiting } from "../../ui/waiting.tsx";

type Check = InstallationHealth["checks"][number];

/** The checks of `doctor`, run inside the server. */
export function HealthPage() {
  const found = useSignal<{ health: InstallationHealth; at: string } | null>(null);
  const examine = useAction(async () => {
    found.value = { health: await api.getInstallationHealth(), at: new Date().toISOString() };
  });
  useEffect(() => {
    void examine.run();
  }, []);
  const { value } = found;
  return (
    <Page
      title="Health"
      lead={
        value && (
          <>
            Version {value.health.version}, examined <Time at={value.at} />
          </>
        )
      }
      actions={
        <Button busy={examine.busy} onClick={() => void examine.run()}>
          {examine.busy ? "Checking…" : "Check again"}
        </Button>
      }
    >
      <Failure error={examine.error} />
      {!value && examine.error === undefined && <Waiting lines={8} />}
      {value && <Findings checks={value.health.checks} />}
      {value && <Scheduler scheduler={value.health.scheduler} />}
    </Page>
  );
}

const order: Readonly<Record<Check["status"], number>> = { fail: 0, warn: 1, ok: 2 };
const looks = {
  fail: { icon: CircleX, look: "bad", says: "fails" },
  warn: { icon: TriangleAlert, look: "warn", says: "to look at" },
  ok: { icon: CircleCheck, look: "good", says: "in order" },
} as const;

/** The pages on which a failed check can be fixed. */
const remedies: Readonly<Record<string, { section: string; title: string }>> = {
  policies: { section: "policies", title: "Policies" },
  "public address": { section: "policies", title: "Policies" },
  "management keys": { section: "keys", title: "Management keys" },
  "open agents": { section: "agents", title: "Agents" },
  "agent keys": { section: "agents", title: "Agents" },
  messages: { section: "overview", title: "Overview" },
};

function Findings({ checks }: { checks: readonly Check[] }) {
  const sorted = checks.toSorted((a, b) => order[a.status] - order[b.status]);
  return (
    <>
      <Verdict checks={checks} />
      <ul class="checks" aria-label="Checks">
        {sorted.map((check, index) => (
          <CheckView key={index} check={check} />
        ))}
      </ul>
    </>
  );
}

function Verdict({ checks }: { checks: readonly Check[] }) {
  const count = (status: Check["status"]) => checks.filter((check) => check.status === status).length;
  const [failed, warned] = [count("fail"), count("warn")];
  if (failed > 0) return <Note look="bad">{failed === 1 ? "1 check fails." : `${failed} checks fail.`}</Note>;
  if (warned === 0) return <Note look="good">All is in order.</Note>;
  return <Note look="good">It works; {warned === 1 ? "one thing is" : `${warned} things are`} worth a look.</Note>;
}

function CheckView({ check: { name, status, message } }: { check: Check }) {
  const { icon, look, says } = looks[status];
  const remedy = status === "ok" ? undefined : remedies[name];
  return (
    <li>
      <span class={`check-state ${look}`}>
        <Icon of={icon} />
        <span class="unseen">{says}:</span>
      </span>
      <b>{name}</b>
      <span>
        {message}
        {remedy && (
          <>
            {" "}
            <a href={hrefOf([remedy.section])}>Open {remedy.title}</a>
          </>
        )}
      </span>
    </li>
  );
}

const Scheduler = ({ scheduler: { slots, pending, stuckRuns, lastTickAt } }: { scheduler: SchedulerHealth }) => (
  <Card title="Scheduler" lead="It begins the tasks and the turns of Rooms that are due.">
    <Figures label="Scheduler">
      <Figure title="Room turns" value={`${slots.total - slots.free} of ${slots.total}`} about="Run in this process" />
      <Figure title="Events that wait" value={pending === null ? "–" : countText(pending)} about="In all backlogs" />
      <Figure
        title="Runs without a process"
        value={stuckRuns === null ? "–" : countText(stuckRuns)}
        about="0 is right"
      />
    </Figures>
    <p class="soft">{lastTickAt === null ? "It has not looked for due work yet." : <LastLook at={lastTickAt} />}</p>
  </Card>
);

const LastLook = ({ at }: { at: string }) => (
  <>
    It looked for due work <Time at={at} />.
  </>
);
