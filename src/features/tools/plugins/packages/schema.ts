import { z } from "@hono/zod-openapi";

const Package = z
  .object({
    namespace: z.string().openapi({ description: "The namespace of its tools.", example: "github" }),
    enabled: z.boolean().openapi({ description: "Whether agents of the organization can use its tools." }),
  })
  .openapi("PluginPackage");
export type PluginPackage = z.infer<typeof Package>;

export const PackageSettings = z
  .object({ enabled: z.boolean().default(true) })
  .openapi("PluginPackageSettings", { example: { enabled: false } });
export type PackageSettings = z.infer<typeof PackageSettings>;

export const PackageAnswer = z.object({ package: Package }).openapi("PluginPackageAnswer");
export const Packages = z.object({ packages: z.array(Package) }).openapi("PluginPackages");
