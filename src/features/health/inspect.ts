import type { Services } from "../../context/ctx.ts";
import { inspectJobs, type JobsReport } from "../../jobs/failed.ts";
import { ownerExists } from "../account/index.ts";
import { inspectChannels, type TroubledChannel } from "../channels/index.ts";
import { type FilesReport, inspectFiles } from "../files/index.ts";
import { inspectMessages, type MessagesReport } from "../inbox/index.ts";
import { inspectSettings, type SettingsReport } from "../installation/index.ts";
import { inspectProviders, type ProvidersReport } from "../providers/index.ts";
import { inspectSecrets, type SecretsReport } from "../secrets/index.ts";
import { type BudgetsReport, inspectBudgets } from "../turns/index.ts";

/** The parts of an installation's health that come from the database. */
export interface Inspection {
  secrets: SecretsReport;
  /** Whether the installation has an owner. */
  owned: boolean;
  settings: SettingsReport;
  jobs: JobsReport;
  messages: MessagesReport;
  channels: TroubledChannel[];
  files: FilesReport;
  budgets: BudgetsReport;
  providers: ProvidersReport;
  /** When it was read, in milliseconds since the epoch. */
  now: number;
}

/** Reads the health from a database with this release's schema. Changes nothing. */
export async function inspect(services: Services): Promise<Inspection> {
  const now = services.clock.now();
  return {
    secrets: await inspectSecrets(services),
    owned: await ownerExists(services),
    settings: await inspectSettings(services),
    jobs: await inspectJobs(services.database, now),
    messages: await inspectMessages(services.database, now),
    channels: await inspectChannels(services.database),
    files: await inspectFiles(services.database),
    budgets: await inspectBudgets(services.database),
    providers: await inspectProviders(services),
    now,
  };
}
