import { organization, type Permission } from "../data/session.ts";
import { Page } from "../ui/page.tsx";

/** In place of a page that the person's role does not allow. */
export const RefusedPage = ({ title, needs }: { title: string; needs: Permission }) => (
  <Page title={title}>
    <p>
      {organization.value === null
        ? "You belong to no organization yet."
        : `As ${organization.value.roleKey} of ${organization.value.name} you can't see this page.`}{" "}
      It takes the permission <code>{needs}</code>, which an Admin or Owner can give you with another role.
    </p>
  </Page>
);
