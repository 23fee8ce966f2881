import { Suspense } from "preact/compat";
import { route } from "../data/route.ts";
import { organization } from "../data/session.ts";
import { NotFoundPage } from "../pages/not-found.tsx";
import { Waiting } from "../ui/waiting.tsx";
import { reachableGroups } from "./sections.ts";

/** The page of the address, made anew in another organization. */
export function RouteView() {
  const sections = reachableGroups().flatMap((group) => group.sections);
  const [name = sections[0]?.name, ...rest] = route.value;
  const section = sections.find((one) => one.name === name);
  if (!section) return <NotFoundPage />;
  return (
    <Suspense fallback={<Loading />}>
      <section.page key={`${organization.value?.slug} ${section.name}`} rest={rest} />
    </Suspense>
  );
}

const Loading = () => (
  <main class="page">
    <Waiting />
  </main>
);
