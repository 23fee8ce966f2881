import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Form } from "./form.tsx";
import { Failure } from "./note.tsx";

interface Props {
  title: string;
  wide?: boolean;
  /** What sending the fields is called. */
  action: string;
  /** What the button says meanwhile, where that takes long. */
  working?: string;
  /** Whether the fields are being sent, and why the server refused them; a `useForm` or a `useAction` has both. */
  state: { busy: boolean; error: unknown };
  onSubmit: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

/** Fields in a dialog, sent together or not at all. */
export const FormDialog = ({ title, wide = false, action, working, state, onSubmit, onClose, children }: Props) => (
  <Dialog title={title} wide={wide} onClose={onClose}>
    <Form onSubmit={onSubmit}>
      {children}
      <Failure error={state.error} />
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" busy={state.busy}>
          {state.busy ? (working ?? action) : action}
        </Button>
      </div>
    </Form>
  </Dialog>
);
