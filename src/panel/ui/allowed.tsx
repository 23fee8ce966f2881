import type { ComponentChildren } from "preact";
import { may, organization, type Permission } from "../data/session.ts";
import { Note } from "./note.tsx";

interface Props<To> {
  to: To;
  children: ComponentChildren;
}

/** Shows its children only to people with the permission; to everybody when `to` is undefined. */
export const Allowed = ({ to, children }: Props<Permission | undefined>) =>
  to === undefined || may(to) ? children : null;

/** Fields that are read-only for people without the permission. */
export function Changeable({ to, children }: Props<Permission>) {
  if (may(to)) return <div class="form">{children}</div>;
  return (
    <>
      <Note>
        <p>
          As {organization.value?.roleKey ?? "a guest"} you can read this. Changing it takes the permission{" "}
          <code>{to}</code>.
        </p>
      </Note>
      <fieldset class="form bare" disabled>
        {children}
      </fieldset>
    </>
  );
}
