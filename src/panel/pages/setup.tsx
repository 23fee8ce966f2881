import { useSignal } from "@preact/signals";
import { useAction } from "../data/action.ts";
import { api, problemsOf } from "../data/api.ts";
import { useLoaded } from "../data/load.ts";
import { goTo } from "../data/route.ts";
import { signIn } from "../data/session.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/form/field.tsx";
import { Form } from "../ui/form/form.tsx";
import { Failure, Note } from "../ui/note.tsx";
import { Waiting } from "../ui/waiting.tsx";

/** The page behind the one-time link: makes the owner, signs in, and leads to the first agent. */
export function SetupPage() {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const { value, error } = useLoaded(() => api.getSetup({ token }), [token]);
  const state = value.value;
  return (
    <main class="alone">
      <h1>Set up Agent Engine</h1>
      <Failure error={error.value} />
      {!state && error.value === undefined && <Waiting lines={3} />}
      {state?.installed && (
        <Note>
          <p>
            This installation has an owner, so the link has done its work. <a href="./">Sign in</a>; for an account of
            your own, ask the owner.
          </p>
        </Note>
      )}
      {state?.installed === false && !state.tokenValid && (
        <Note look="bad">
          <p>
            This link does not work. A setup link works once and for 24 hours. Restart the server: while there is no
            owner, it prints a new link at every start. Copy the whole line, up to its last character.
          </p>
        </Note>
      )}
      {state?.tokenValid && <SetupForm token={token} />}
    </main>
  );
}

function SetupForm({ token }: { token: string }) {
  const fields = useSignal({ email: "", password: "", again: "", name: "" });
  const differ = useSignal(false);
  const { email, password, again, name } = fields.value;
  const write = (change: Partial<typeof fields.value>) => {
    differ.value = false;
    fields.value = { ...fields.value, ...change };
  };
  const create = useAction(async () => {
    await api.setUp({ body: { token, email, password, ...(name === "" ? {} : { name }) } });
    // The used link need not stay in the history.
    history.replaceState(null, "", "./");
    await signIn(email, password);
    goTo(["agents", "~new"]);
  });
  const problems = problemsOf(create.error);
  const submit = () => {
    differ.value = password !== again;
    if (!differ.value) void create.run();
  };
  return (
    <Form onSubmit={submit}>
      <p>Make the first account. It owns this installation.</p>
      <Failure error={create.error} />
      <TextField
        label="E-mail"
        type="email"
        autocomplete="username"
        required
        autofocus
        value={email}
        problem={problems.get("email")}
        onValue={(value) => write({ email: value })}
      />
      <TextField
        label="Password"
        type="password"
        autocomplete="new-password"
        minLength={8}
        maxLength={256}
        required
        hint="At least 8 characters."
        value={password}
        problem={problems.get("password")}
        onValue={(value) => write({ password: value })}
      />
      <TextField
        label="Password again"
        type="password"
        autocomplete="new-password"
        required
        autofocus={differ.value}
        value={again}
        problem={differ.value ? "The two passwords differ." : undefined}
        onValue={(value) => write({ again: value })}
      />
      <TextField
        label="Your name"
        optional
        autocomplete="name"
        maxLength={128}
        value={name}
        problem={problems.get("name")}
        onValue={(value) => write({ name: value })}
      />
      <Button look="primary" type="submit" busy={create.busy}>
        Create the owner
      </Button>
    </Form>
  );
}
