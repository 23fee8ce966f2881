import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { readSession, user } from "./data/session.ts";
import "./data/theme.ts";
import { Shell } from "./frame/shell.tsx";
import { SetupPage } from "./pages/setup.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { Failure } from "./ui/note.tsx";
import { Toasts } from "./ui/toast.tsx";

/** The whole panel: setup behind its link, sign-in, or the signed-in person's pages. */
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
  // Nothing is shown during the short wait, so that nothing jumps.
  if (value === undefined) return null;
  return (
    <>
      {value === null ? <Outside /> : <Shell key={value.id} />}
      <Toasts />
    </>
  );
}

const Outside = () => (location.pathname.endsWith("/setup") ? <SetupPage /> : <SignInPage />);

render(<App />, document.body);
