import { organization, type Permission } from "../data/session.ts";
import { Page } from "../ui/page.tsx";

export const NotFoundPage = () => (
  <Page title="There is no such page">
    <p>
      What was here may have been deleted, or the address is from another release. <a href="#/">Go to the first page</a>
      .
    </p>
  </Page>
);

/** Shown instead of a part that the person's role does not allow. */
export const Refusal = ({ needs }: { needs: Permission }) => (
  <p>
    {organization.value === null
      ? "You belong to no organization yet."
      : `As ${organization.value.roleKey} of ${organization.value.name} you can't see this page.`}{" "}
    It takes the permission <code>{needs}</code>, which an Admin or Owner can give you with another role.
  </p>
);

/** `Refusal` for a whole page. */
export const RefusedPage = ({ title, needs }: { title: string; needs: Permission }) => (
  <Page title={title}>
    <Refusal needs={needs} />
  </Page>
);
