import { Page } from "../ui/page.tsx";

export const NotFoundPage = () => (
  <Page title="There is no such page">
    <p>
      The address may be from another release. <a href="#/">Go to the first page</a>.
    </p>
  </Page>
);
