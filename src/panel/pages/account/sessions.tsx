import type { Session } from "../../../client/index.ts";
import { account } from "../../data/api.ts";
import { useLoaded } from "../../data/list/load.ts";
import { ActButton } from "../../ui/act-button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmButton } from "../../ui/dialog/buttons.tsx";
import { Table } from "../../ui/list/table.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Time } from "../../ui/text/time.tsx";
import { tell } from "../../ui/toast.tsx";

/** The person's sessions. */
export function Sessions() {
  const sessions = useLoaded(async () => (await account.listSessions()).sessions, []);
  const endOthers = async () => {
    const { count } = await account.endOtherSessions();
    tell(count === 1 ? "One other session has ended" : `${count} other sessions have ended`);
    await sessions.reload();
  };
  return (
    <Card title="Where you are signed in" lead="A session ends 30 days after its last use.">
      <WhenLoaded of={sessions} lines={2}>
        {(all) => (
          <>
            <Table
              label="Sessions"
              rows={all}
              keyOf={({ id }) => id}
              about={({ ip }) => ip || "from an unknown address"}
              columns={[
                { title: "Browser or program", cell: deviceOf },
                { title: "Since", cell: ({ createdAt }) => <Time at={createdAt} /> },
                { title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
              ]}
              actions={(session) =>
                session.current ? (
                  <span class="badge good">this one</span>
                ) : (
                  <ActButton
                    small
                    look="danger"
                    work={() => account.endSession({ id: session.id })}
                    said="Signed out there"
                    onDone={sessions.reload}
                  >
                    Sign out
                  </ActButton>
                )
              }
            />
            {all.length > 1 && (
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
          </>
        )}
      </WhenLoaded>
    </Card>
  );
}

const browsers = ["Edg", "OPR", "Firefox", "Chrome", "Safari"];
const names: Readonly<Record<string, string>> = { Edg: "Edge", OPR: "Opera" };

/** The name of a browser; for another program, what it calls itself. */
function deviceOf({ userAgent }: Session): string {
  if (userAgent === "") return "Unknown";
  const browser = userAgent.startsWith("Mozilla/") && browsers.find((name) => userAgent.includes(`${name}/`));
  if (!browser) return userAgent.slice(0, 60);
  const system = /Windows|Macintosh|Android|iPhone|iPad|Linux/.exec(userAgent)?.[0].replace("Macintosh", "Mac");
  return [names[browser] ?? browser, system && `on ${system}`].filter(Boolean).join(" ");
}
