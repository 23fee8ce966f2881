import { useSignal } from "@preact/signals";
import { api } from "../data/api.ts";
import { useForm } from "../data/form/form.ts";
import { useLoaded } from "../data/list/load.ts";
import { goTo } from "../data/route.ts";
import { signIn } from "../data/session.ts";
import { Button } from "../ui/button.tsx";
import { Fields } from "../ui/form/fields.tsx";
import { type FieldTable, Form, Refusal } from "../ui/form/form.tsx";
import { Failure, Note } from "../ui/note.tsx";
import { Waiting } from "../ui/waiting.tsx";
import { newPassword } from "./shared-fields.ts";

/** The page of the one-time link: creates the owner, signs in, and leads to the first agent. */
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

const blank = { email: "", password: "", again: "", name: "" };

function SetupForm({ token }: { token: string }) {
  /** The problem when the two passwords differed as they were sent; while a person types, a difference is no problem. */
  const differing = useSignal<string | null>(null);
  const form = useForm(null, blank, async () => {
    const { email, password, name } = form.values;
    await api.setUp({ body: { token, email, password, ...(name === "" ? {} : { name }) } });
    // Removes the used link from the history.
    history.replaceState(null, "", "./");
    await signIn(email, password);
    goTo(["agents", "~new"]);
  });
  const { password, again } = form.values;
  const differ = differing.value === JSON.stringify(form.values);
  const submit = () => {
    if (password === again) void form.save();
    else differing.value = JSON.stringify(form.values);
  };
  const fields: FieldTable<typeof blank> = [
    { name: "email", label: "E-mail", type: "email", autocomplete: "username", required: true, autofocus: true },
    { name: "password", label: "Password", ...newPassword },
    {
      name: "again",
      label: "Password again",
      kind: "password",
      autocomplete: "new-password",
      required: true,
      autofocus: differ,
      problem: differ ? "The two passwords differ." : undefined,
    },
    { name: "name", label: "Your name", optional: true, autocomplete: "name", maxLength: 128 },
  ];
  return (
    <Form onSubmit={submit}>
      <p>Make the first account. It owns this installation.</p>
      <Refusal form={form} fields={fields} />
      <Fields form={form} fields={fields} />
      <Button look="primary" type="submit" busy={form.busy}>
        Create the owner
      </Button>
    </Form>
  );
}
