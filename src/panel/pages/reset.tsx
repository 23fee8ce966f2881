import { useSignal } from "@preact/signals";
import { account } from "../data/api.ts";
import { useForm } from "../data/form/form.ts";
import { type FieldTable, SendForm } from "../ui/form/form.tsx";
import { Note } from "../ui/note.tsx";
import { newPassword } from "./shared-fields.ts";

/** The token of the link; in the part of the address that browsers send to no server. */
const tokenOf = () => new URLSearchParams(location.hash.slice(1)).get("token") ?? "";

/** The page of the link in a mail: chooses a new password. */
export function ResetPage() {
  const done = useSignal(false);
  const token = useSignal(tokenOf()).value;
  return (
    <main class="alone">
      <h1>Choose a new password</h1>
      {done.value && (
        <Note look="good">
          <p>
            Your password is changed, and all your sessions have ended. <a href="./">Sign in</a>
          </p>
        </Note>
      )}
      {!done.value && token === "" && (
        <Note look="bad">
          <p>
            This link is not whole: copy all of it, up to its last character. <a href="./">Sign in</a>
          </p>
        </Note>
      )}
      {!done.value && token !== "" && (
        <ResetForm
          token={token}
          onDone={() => {
            done.value = true;
          }}
        />
      )}
    </main>
  );
}

const blank = { password: "", again: "" };

function ResetForm({ token, onDone }: { token: string; onDone: () => void }) {
  const form = useForm(null, blank, async () => {
    await account.resetPassword({ body: { token, password: form.values.password } });
    // Removes the used link from the history.
    history.replaceState(null, "", "./");
    onDone();
  });
  const { password, again } = form.values;
  const fields: FieldTable<typeof blank> = [
    { name: "password", label: "New password", ...newPassword, autofocus: true },
    {
      name: "again",
      label: "New password once more",
      kind: "password",
      autocomplete: "new-password",
      required: true,
      problem: again !== "" && again !== password ? "The two passwords differ." : undefined,
    },
  ];
  return (
    <SendForm form={form} fields={fields} action="Set the password" disabled={password === "" || again !== password} />
  );
}
