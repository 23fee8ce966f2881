import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { readSession, user } from "./data/session.ts";
import "./data/theme.ts";
import { ImpersonationBar } from "./frame/impersonation-bar.tsx";
import { Shell } from "./frame/shell.tsx";
import { ResetPage } from "./pages/reset.tsx";
import { SetupPage } from "./pages/setup.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { Failure } from "./ui/note.tsx";
import { Toasts } from "./ui/toast.tsx";

/** The whole panel: the setup behind its link, the sign-in, or the pages of the signed-in person. */
function App() {
  const error = useSignal<unknown>(undefined);
  const load = () => {
    error.value = undefined;
    readSession().catch((reason: unknown) => {
      error.value = reason;
    });
  };
  useEffect(load, []);
  const { value } = user;
  if (error.value !== undefined) {
    return (
      <main class="alone">
        <Failure error={error.value} retry={load} />
      </main>
    );
  }
  // Nothing is shown during this short wait, so that the page does not jump.
  if (value === undefined) return null;
  return (
    <>
      <ImpersonationBar />
      {isAt("/reset") ? <ResetPage /> : value === null ? <Outside /> : <Shell key={value.id} />}
      <Toasts />
    </>
  );
}

const isAt = (path: string) => location.pathname.endsWith(path);

const Outside = () => (isAt("/setup") ? <SetupPage /> : <SignInPage />);

render(<App />, document.body);
