import { Suspense } from "preact/compat";
import { route } from "../data/route.ts";
import { isServed, may, organization } from "../data/session.ts";
import { NotFoundPage, RefusedPage } from "../pages/missing.tsx";
import { Waiting } from "../ui/waiting.tsx";
import { accountSection, groups, pages, reachableGroups } from "./sections.ts";

const sections = [...groups.flatMap((group) => group.sections), accountSection];

/** The page for the address, rendered anew in another organization. Without one, only the account. */
export function RouteView() {
  const first = reachableGroups()[0]?.sections[0] ?? accountSection;
  const [name = first.name, ...rest] = route.value;
  const section = sections.find((one) => one.name === name);
  if (!section || !isServed(section)) return <NotFoundPage />;
  if (section.needs !== null && !may(section.needs)) return <RefusedPage title={section.title} needs={section.needs} />;
  const SectionPage = pages[section.name];
  return (
    <Suspense fallback={<Loading />}>
      <SectionPage key={`${organization.value?.slug} ${section.name}`} rest={rest} />
    </Suspense>
  );
}

const Loading = () => (
  <main class="page">
    <Waiting />
  </main>
);
