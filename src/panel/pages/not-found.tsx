import { Page } from "../ui/page.tsx";

export const NotFoundPage = () => (
  <Page title="There is no such page">
    <p>
      What was here may have been deleted, or the address is from another release. <a href="#/">Go to the first page</a>
      .
    </p>
  </Page>
);
