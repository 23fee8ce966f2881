import { useEffect } from "preact/hooks";
import { useAction } from "../data/form/action.ts";
import { impersonation } from "../data/impersonation.ts";
import { goTo } from "../data/route.ts";
import { stopImpersonating, type User, user } from "../data/session.ts";
import { Button } from "../ui/button.tsx";
import { Remaining } from "../ui/text/time.tsx";
import { tell, tellFailure } from "../ui/toast.tsx";

/** Tells above every page that the panel shows what another person sees; nothing in the person's own view. */
export function ImpersonationBar() {
  const until = impersonation.value?.expiresAt;
  return until && user.value ? <Bar person={user.value} until={until} /> : null;
}

function Bar({ person: { name, email }, until }: { person: User; until: string }) {
  // However it ended: with the button, or with its time.
  useEffect(() => () => tell(`You don't see what ${name} sees any more.`), []);
  const stop = useAction(async () => {
    await stopImpersonating().catch(tellFailure);
    goTo(["users"]);
  });
  return (
    <section class="impersonation" aria-label="Impersonation">
      <p>
        You see what{" "}
        <strong>
          {name} ({email})
        </strong>{" "}
        sees, read-only, <Remaining until={until} />.
      </p>
      <Button small busy={stop.busy} onClick={() => void stop.run()}>
        Stop
      </Button>
    </section>
  );
}
