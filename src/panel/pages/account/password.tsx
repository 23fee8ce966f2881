import { useSignal } from "@preact/signals";
import { useAction } from "../../data/action.ts";
import { account, problemsOf } from "../../data/api.ts";
import { readUser } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { TextField } from "../../ui/form/field.tsx";
import { Form } from "../../ui/form/form.tsx";
import { Failure, Note } from "../../ui/note.tsx";
import { tell } from "../../ui/toast.tsx";

const blank = { currentPassword: "", newPassword: "", again: "" };

/** A new password; `required`: somebody else knows the present one. */
export function Password({ required = false }: { required?: boolean }) {
  const typed = useSignal(blank);
  const set = (changes: Partial<typeof blank>) => {
    typed.value = { ...typed.value, ...changes };
  };
  const { currentPassword, newPassword, again } = typed.value;
  const differs = again !== "" && again !== newPassword;
  const change = useAction(async () => {
    await account.changePassword({ body: { currentPassword, newPassword } });
    typed.value = blank;
    tell("Changed. Your other sessions have ended.");
    await readUser();
  });
  const problems = problemsOf(change.error);
  return (
    <Card title={required ? "Choose a password of your own" : "Password"}>
      {required && (
        <Note look="warn">
          Somebody else made your present password and knows it. Until you choose another one, you reach only the
          organization that added you.
        </Note>
      )}
      <Form narrow onSubmit={() => void change.run()}>
        <TextField
          label="Present password"
          type="password"
          autocomplete="current-password"
          required
          value={currentPassword}
          problem={problems.get("currentPassword")}
          onValue={(text) => set({ currentPassword: text })}
        />
        <TextField
          label="New password"
          type="password"
          autocomplete="new-password"
          required
          minLength={8}
          maxLength={256}
          hint="At least 8 characters."
          value={newPassword}
          problem={problems.get("newPassword")}
          onValue={(text) => set({ newPassword: text })}
        />
        <TextField
          label="New password once more"
          type="password"
          autocomplete="new-password"
          required
          value={again}
          problem={differs ? "The two passwords differ." : undefined}
          onValue={(text) => set({ again: text })}
        />
        <Failure error={change.error} />
        <div class="actions">
          <Button
            look="primary"
            type="submit"
            busy={change.busy}
            disabled={newPassword === "" || again !== newPassword}
          >
            Change the password
          </Button>
        </div>
      </Form>
    </Card>
  );
}
