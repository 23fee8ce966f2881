import { useSignal } from "@preact/signals";
import { useAction } from "../data/action.ts";
import { installed, signIn } from "../data/session.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/form/field.tsx";
import { Form } from "../ui/form/form.tsx";
import { Failure, Note } from "../ui/note.tsx";

/** Signs in; before there is an owner it says how to become the owner. */
export function SignInPage() {
  if (!installed.value) return <Unowned />;
  return (
    <main class="alone">
      <h1>Sign in to Agent Engine</h1>
      <SignInForm />
    </main>
  );
}

const Unowned = () => (
  <main class="alone">
    <h1>Agent Engine runs here</h1>
    <Note>
      <p>
        Nobody owns it yet. When it started, the server printed a link that ends in <code>/setup?token=…</code>: open it
        to make the first account. A restart prints a new one.
      </p>
    </Note>
  </main>
);

function SignInForm() {
  const email = useSignal("");
  const password = useSignal("");
  const enter = useAction(() => signIn(email.value, password.value));
  return (
    <Form onSubmit={() => void enter.run()}>
      <Failure error={enter.error} />
      <TextField
        label="E-mail"
        type="email"
        autocomplete="username"
        required
        autofocus
        value={email.value}
        onValue={(value) => {
          email.value = value;
        }}
      />
      <TextField
        label="Password"
        type="password"
        autocomplete="current-password"
        required
        value={password.value}
        onValue={(value) => {
          password.value = value;
        }}
      />
      <Button look="primary" type="submit" busy={enter.busy}>
        Sign in
      </Button>
      <p class="soft">
        Lost your password? An Owner or Admin can give you a new one, or whoever runs the server:{" "}
        <code>agent-engine reset-password</code>.
      </p>
    </Form>
  );
}
