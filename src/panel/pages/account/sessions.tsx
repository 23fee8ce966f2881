import type { Session } from "../../../client/index.ts";
import { account } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmButton } from "../../ui/dialog/confirm-button.tsx";
import { Failure } from "../../ui/note.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";
import { Waiting } from "../../ui/waiting.tsx";

/** Where the person is signed in. */
export function Sessions() {
  const { value, error, reload } = useLoaded(async () => (await account.listSessions()).sessions, []);
  const sessions = value.value;
  const end = async ({ id }: Session) => {
    await account.endSession({ id });
    tell("Signed out there");
    await reload();
  };
  const endOthers = async () => {
    const { count } = await account.endOtherSessions();
    tell(count === 1 ? "One other session has ended" : `${count} other sessions have ended`);
    await reload();
  };
  return (
    <Card title="Where you are signed in" lead="A session ends 30 days after its last use.">
      <Failure error={error.value} retry={reload} />
      {!sessions && error.value === undefined && <Waiting lines={2} />}
      {sessions && (
        <Table
          label="Sessions"
          rows={sessions}
          keyOf={({ id }) => id}
          about={({ ip }) => ip || "from an unknown address"}
          columns={[
            { title: "Browser or program", cell: deviceOf },
            { title: "Since", cell: ({ createdAt }) => <Time at={createdAt} /> },
            { title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
            {
              title: "Actions",
              end: true,
              cell: (session) =>
                session.current ? (
                  <span class="badge good">this one</span>
                ) : (
                  <Button small look="danger" onClick={() => void end(session).catch(tellFailure)}>
                    Sign out
                  </Button>
                ),
            },
          ]}
        />
      )}
      {sessions && sessions.length > 1 && (
        <div class="actions">
          <ConfirmButton
            label="Sign out everywhere else"
            title="Sign out everywhere else?"
            action="Sign out everywhere else"
            onConfirm={endOthers}
          >
            Every session but this one ends at once.
          </ConfirmButton>
        </div>
      )}
    </Card>
  );
}

const browsers = ["Edg", "OPR", "Firefox", "Chrome", "Safari"];
const names: Readonly<Record<string, string>> = { Edg: "Edge", OPR: "Opera" };

/** A browser by its name; another program by what it calls itself. */
function deviceOf({ userAgent }: Session): string {
  if (userAgent === "") return "Unknown";
  const browser = userAgent.startsWith("Mozilla/") && browsers.find((name) => userAgent.includes(`${name}/`));
  if (!browser) return userAgent.slice(0, 60);
  const system = /Windows|Macintosh|Android|iPhone|iPad|Linux/.exec(userAgent)?.[0].replace("Macintosh", "Mac");
  return [names[browser] ?? browser, system && `on ${system}`].filter(Boolean).join(" ");
}
