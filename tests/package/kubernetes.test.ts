import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment } from "kubernetes-types/apps/v1";
import type { Service } from "kubernetes-types/core/v1";
import type { Ingress } from "kubernetes-types/networking/v1";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { dataDirectory } from "../runtime/program.ts";
import { root } from "./npm.ts";
import { assignments, settingsIn } from "./settings.ts";

/** The time of a server to close after its drain and grace, in seconds. */
const closingSeconds = 15;

const folder = join(root, "deploy/kubernetes");
const read = (name: string) => parse(readFileSync(join(folder, name), "utf8"));
const names = readdirSync(folder).filter((name) => name !== "kustomization.yaml");
const { resources, images, configMapGenerator, ...rest } = read("kustomization.yaml");
const deployment = read("deployment.yaml") as Deployment;
const pod = deployment.spec?.template.spec;
const engine = pod?.containers[0];
const literals = configMapGenerator[0].literals.join("\n") as string;

const modules: Record<string, string> = {
  "apps/v1": "apps/v1",
  v1: "core/v1",
  "policy/v1": "policy/v1",
  "networking.k8s.io/v1": "networking/v1",
};

/** A module in which a manifest is a value of its API type. */
const typed = (manifest: { apiVersion: string; kind: string }) =>
  `import type { ${manifest.kind} } from "kubernetes-types/${modules[manifest.apiVersion]}";
export const manifest: Required<Pick<${manifest.kind}, "apiVersion" | "kind" | "spec">> & ${manifest.kind} = ${JSON.stringify(manifest)};\n`;

test("has the types of Kubernetes' API", () => {
  const directory = dataDirectory();
  for (const name of names) writeFileSync(join(directory, `${name}.ts`), typed(read(name)));
  // This one shows that the check can fail.
  const misspelt = JSON.parse(JSON.stringify(deployment).replace("readinessProbe", "readinesProbe"));
  writeFileSync(join(directory, "misspelt.ts"), typed(misspelt));
  const compilerOptions = {
    module: "esnext",
    moduleResolution: "bundler",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    lib: ["es2024"],
    types: [],
    paths: { "kubernetes-types/*": [join(root, "node_modules/kubernetes-types/*.d.ts")] },
  };
  const project = join(directory, "tsconfig.json");
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const tsc = join(root, "node_modules/.bin/tsc");
  const { stdout } = spawnSync(tsc, ["-p", project, "--pretty", "false"], { encoding: "utf8" });
  const errors = stdout.split("\n").filter((line) => line.includes("error TS"));
  expect(errors).toEqual([expect.stringMatching(/misspelt\.ts.*readinesProbe/)]);
});

test("kustomize finds every manifest, and the image and settings that they name", () => {
  expect([...resources].sort()).toEqual(names.sort());
  expect(images[0]).toMatchObject({ name: engine?.image, newName: expect.any(String), newTag: expect.any(String) });
  expect(rest).toEqual({ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization" });
  expect(configMapGenerator.map(({ name }: { name: string }) => name)).toEqual(
    engine?.envFrom?.flatMap(({ configMapRef }) => configMapRef?.name ?? []),
  );
  settingsIn(`${literals}\nDATABASE_URL=postgres://user@host/database`);
});

test("two replicas take turns, in which a new pod is ready before an old one stops", () => {
  expect(deployment.spec?.replicas).toBeGreaterThanOrEqual(2);
  expect(deployment.spec?.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  const labels = deployment.spec?.template.metadata?.labels;
  const budget = read("pod-disruption-budget.yaml") as PodDisruptionBudget;
  const service = read("service.yaml") as Service;
  const ingress = read("ingress.yaml") as Ingress;
  expect(budget.spec).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: labels } });
  expect(service.spec?.selector).toEqual(labels);
  expect(service.spec?.ports?.map(({ targetPort }) => targetPort)).toEqual(engine?.ports?.map(({ name }) => name));
  const backend = ingress.spec?.rules?.[0]?.http?.paths[0]?.backend.service;
  expect(backend).toEqual({ name: service.metadata?.name, port: { name: service.spec?.ports?.[0]?.name } });
});

test("probes and the time to stop fit the server's drain and grace", () => {
  const { DRAIN_SECONDS, SHUTDOWN_GRACE_SECONDS } = settingsIn(
    `${literals}\nDATABASE_URL=postgres://user@host/database`,
  );
  const { readinessProbe, livenessProbe, startupProbe } = engine ?? {};
  expect([readinessProbe?.httpGet?.path, livenessProbe?.httpGet?.path]).toEqual(["/ready", "/health"]);
  expect(startupProbe?.httpGet?.path).toBe("/health");
  // The server answers /ready within two seconds.
  expect(readinessProbe?.timeoutSeconds).toBeGreaterThan(2);
  const toRestart = (livenessProbe?.periodSeconds ?? 0) * (livenessProbe?.failureThreshold ?? 0);
  const toStop = pod?.terminationGracePeriodSeconds ?? 0;
  expect(toStop).toBeGreaterThanOrEqual(DRAIN_SECONDS + SHUTDOWN_GRACE_SECONDS + closingSeconds);
  expect(toRestart).toBeGreaterThan(toStop);
  const toLeave = (readinessProbe?.periodSeconds ?? 0) * (readinessProbe?.failureThreshold ?? 0);
  expect(DRAIN_SECONDS).toBeGreaterThan(toLeave);
});

test("the pod has no rights that it does not need, and no secret stands in a file", () => {
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000 },
  });
  expect(engine?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  const secret = { name: "agent-engine", key: expect.any(String) };
  expect(engine?.env?.map(({ name, value, valueFrom }) => [name, value, valueFrom?.secretKeyRef])).toEqual([
    ["DATABASE_URL", undefined, { ...secret, key: "DATABASE_URL" }],
    ["ENCRYPTION_KEY", undefined, { ...secret, key: "ENCRYPTION_KEY" }],
  ]);
  expect(names.map((name) => read(name).kind)).not.toContain("Secret");
  expect(Object.keys(assignments(literals)).filter((name) => /KEY|PASSWORD|TOKEN|URL$/.test(name))).toEqual([
    "BASE_URL",
  ]);
});
