import { useSignal } from "@preact/signals";
import { useForm } from "../data/form/form.ts";
import { installed, resetsByMail, signIn } from "../data/session.ts";
import { Button } from "../ui/button.tsx";
import { Fields } from "../ui/form/fields.tsx";
import { type FieldTable, Form, Refusal } from "../ui/form/form.tsx";
import { Note } from "../ui/note.tsx";
import { ForgotPassword } from "./forgot.tsx";

/** The sign-in; without an owner it explains how to become the owner. */
export function SignInPage() {
  const forgot = useSignal(false);
  const show = (value: boolean) => () => {
    forgot.value = value;
  };
  if (!installed.value) return <Unowned />;
  return (
    <main class="alone">
      <h1>{forgot.value ? "A new password" : "Sign in to Agent Engine"}</h1>
      {forgot.value ? <ForgotPassword onBack={show(false)} /> : <SignInForm onForgot={show(true)} />}
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

const blank = { email: "", password: "" };

const fields: FieldTable<typeof blank> = [
  { name: "email", label: "E-mail", type: "email", autocomplete: "username", required: true, autofocus: true },
  { name: "password", label: "Password", kind: "password", autocomplete: "current-password", required: true },
];

function SignInForm({ onForgot }: { onForgot: () => void }) {
  const form = useForm(null, blank, ({ email = "", password = "" }) => signIn(email, password));
  return (
    <Form onSubmit={() => void form.save()}>
      <Refusal form={form} fields={fields} />
      <Fields form={form} fields={fields} />
      <Button look="primary" type="submit" busy={form.busy}>
        Sign in
      </Button>
      {resetsByMail.value ? (
        <Button onClick={onForgot}>Forgot your password?</Button>
      ) : (
        <p class="soft">
          Lost your password? An Owner or Admin can give you a new one, or whoever runs the server:{" "}
          <code>agent-engine reset-password</code>.
        </p>
      )}
    </Form>
  );
}
