import { Page } from "../ui/page.tsx";

export const NotFoundPage = () => (
  <Page title="There is no such page">
    <p>
      The address may be from another release. <a href="#/">Here are your agents</a>.
    </p>
  </Page>
);
