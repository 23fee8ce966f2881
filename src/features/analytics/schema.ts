import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { page, pageQuery } from "../../http/paging.ts";
import { periodQuery } from "../../http/period.ts";
import { SubjectChannel, Timestamp } from "../../http/shapes.ts";

export const AnalyticsQuery = z.object(periodQuery);
export type AnalyticsQuery = z.infer<typeof AnalyticsQuery>;

const count = z.int().openapi({ example: 12 });
const tokens = z.int().openapi({ example: 5210 });
const cost = {
  costMicros: z.int().nullable().openapi({
    description:
      "Millionths of the currency's unit, of the turns with a known cost. Null: there are turns, and none has a known cost.",
    example: 31_200,
  }),
  unpricedTurns: count.openapi({
    description: "Turns that are not in `costMicros`: a model without a price answered, or they run.",
    example: 0,
  }),
};
const currency = z.string().openapi({
  description: "The currency of the organization's prices, in which costs are shown.",
  example: "USD",
});
const ms = z.int().nullable().openapi({ example: 1840 });
const date = z.iso.date().openapi({ description: "A day in UTC.", example: "2026-11-21" });

/** The most models and tools in a response. */
export const mostListed = 200;

const DayTrend = z.object({
  date,
  turns: count,
  tokens,
  ...cost,
  conversations: count,
  messages: count,
  latencyP50: ms.openapi({ description: "As `latency.p50`, of the day's turns." }),
  latencyP95: ms.openapi({ description: "As `latency.p95`, of the day's turns." }),
});

export const Analytics = z
  .object({
    currency,
    overview: z.object({
      turns: count.openapi({ description: "However they ended, those that run included." }),
      conversations: count.openapi({ description: "With a turn in the period, of those that are stored." }),
      messages: count.openapi({ description: "That these turns stored, of both sides." }),
      uniqueUsers: count.openapi({
        description:
          "End users: the `user` of a call with the agent's key, a messenger's user, else the conversation. A call without `chat_id` and without `user` has none, and neither has work that nobody asked for.",
      }),
      promptTokens: tokens,
      completionTokens: tokens,
      totalTokens: tokens,
      ...cost,
    }),
    dailyTrend: z.array(DayTrend).openapi({ description: "Every UTC day of the period." }),
    channelDistribution: z.array(
      z.object({ channel: z.string().openapi({ example: "web" }), turns: count, tokens, ...cost }),
    ),
    modelDistribution: z
      .array(z.object({ model: z.string().openapi({ example: "openai:gpt-5-mini" }), turns: count, tokens, ...cost }))
      .openapi({ description: `By turns, at most ${mostListed}.` }),
    toolUsage: z
      .array(
        z.object({
          tool: z.string().openapi({ example: "httpRequest" }),
          count,
          errors: count.openapi({ description: "Of these calls, those that failed." }),
          p95: ms.openapi({ description: "Milliseconds, within 5 %." }),
        }),
      )
      .openapi({ description: `By calls, at most ${mostListed}.` }),
    latency: z.object({ p50: ms, p95: ms, p99: ms, firstOutputP50: ms }).openapi({
      description:
        "Milliseconds, within 5 %, of the turns that ended well, from their beginning to their end, and to the first output. Null where there are none.",
    }),
  })
  .openapi("Analytics");
export type Analytics = z.infer<typeof Analytics>;

export const UsageQuery = z.object({
  by: z.enum(["agent", "user", "model", "day"]).openapi({ description: "What the numbers are of.", example: "agent" }),
  instanceId: zText(128)
    .optional()
    .openapi({ description: "Slug of an agent: its numbers alone.", example: "support" }),
  ...periodQuery,
  ...pageQuery(50, 400),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

const UsageRow = z.object({
  instanceId: z.string().optional().openapi({ description: "With `by=agent`: its slug.", example: "support" }),
  instanceName: z.string().optional().openapi({ description: "With `by=agent`.", example: "Support" }),
  user: z.string().nullable().optional().openapi({
    description:
      "With `by=user`: the end user, which is the conversation where there is no other. Null: nobody is known.",
    example: "user-42",
  }),
  userChannel: SubjectChannel.nullable().optional().openapi({
    description: "With `by=user`: the channel of `user`; equal ids of two channels are two people.",
  }),
  model: z.string().optional().openapi({
    description: "With `by=model`: provider and model. A turn with a fallback counts for the model that answered last.",
    example: "openai:gpt-5-mini",
  }),
  date: date.optional().openapi({ description: "With `by=day`: a day in UTC." }),
  turns: count,
  promptTokens: tokens,
  completionTokens: tokens,
  totalTokens: tokens,
  ...cost,
});
export type UsageRow = z.infer<typeof UsageRow>;

export const UsagePage = z
  .object({
    currency,
    usage: z.array(UsageRow).openapi({ description: "By tokens, the most first; days in order." }),
    ...page,
  })
  .openapi("UsagePage");
export type UsagePage = z.infer<typeof UsagePage>;

/** The most turns, and the most failures, in a response. */
export const mostRunning = 20;
export const mostFailures = 50;

const agent = {
  instanceId: z.string().openapi({ description: "Slug of the agent.", example: "support" }),
  instanceName: z.string().openapi({ example: "Support" }),
};

const Failure = z.object({
  kind: z.enum(["turn", "task", "message", "event", "channel"]).openapi({
    description:
      "`task`: a run of a scheduled task failed or was missed. `message`: one of a messenger was given up. `event`: one of a backlog was. `channel`: it does not work at this moment, since whenever.",
    example: "task",
  }),
  ...agent,
  conversationId: z.string().nullable().openapi({ description: "Null: there is none.", example: "support:web:4711" }),
  name: z.string().nullable().openapi({
    description: "The task, or the channel of a turn, of a message, or that does not work.",
    example: "Daily report",
  }),
  error: z.string().nullable().openapi({
    description:
      "Why. Of a turn a code: `provider-failed`, `provider-timeout`, `rate-limited`, `internal`, or `lost` when its process died.",
    example: "Nobody approved a call in time",
  }),
  at: Timestamp,
});
export type Failure = z.infer<typeof Failure>;

export const AnalyticsNow = z
  .object({
    running: z.object({
      items: z
        .array(
          z.object({
            id: z.uuid().openapi({ description: "The turn's id." }),
            ...agent,
            conversationId: z.string().nullable().openapi({ example: "support:web:4711" }),
            channel: z.string().openapi({ example: "web" }),
            status: z.enum(["queued", "running"]).openapi({ description: "`queued`: it waits for another turn." }),
            createdAt: Timestamp,
          }),
        )
        .openapi({ description: `Turns, the oldest first, at most ${mostRunning}.` }),
      total: count,
    }),
    failures: z.object({
      items: z.array(Failure).openapi({ description: `Of the last 24 hours, newest first, at most ${mostFailures}.` }),
      total: count,
    }),
  })
  .openapi("AnalyticsNow");
export type AnalyticsNow = z.infer<typeof AnalyticsNow>;

/** The most end users in a response about budgets. */
export const mostUsers = 50;

const AgentBudget = z.object({
  ...agent,
  budget: tokens.openapi({ description: "Tokens of the calendar month in UTC." }),
  used: tokens.openapi({ description: "With work of the background, such as memories and titles." }),
  reserved: tokens.openapi({ description: "Held for calls that run at this moment." }),
});
export type AgentBudget = z.infer<typeof AgentBudget>;

const endUser = {
  user: z.string().openapi({
    description: "The end user, which is the conversation where there is no other.",
    example: "user-42",
  }),
  userChannel: SubjectChannel.nullable(),
};

const UserBudget = AgentBudget.extend(endUser);
export type UserBudget = z.infer<typeof UserBudget>;

const micros = z.int().openapi({ description: "In millionths of the currency's unit.", example: 5_000_000 });

const AgentCost = z.object({ ...agent, budget: micros, used: micros, reserved: micros });

export const Budgets = z
  .object({
    month: z.iso.date().openapi({ description: "The first day of this month in UTC.", example: "2026-11-01" }),
    agents: z.array(AgentBudget).openapi({
      description: "Agents with `monthlyTokenBudget`, those that used the largest share of it first.",
    }),
    users: z.array(UserBudget).openapi({
      description: `End users of agents with \`userMonthlyTokenBudget\`, who asked them this month, in the same order; at most ${mostUsers}.`,
    }),
    costs: z
      .object({
        currency,
        agents: z.array(AgentCost).openapi({ description: "As `agents`, with `monthlyCostBudget`." }),
        users: z.array(AgentCost.extend(endUser)).openapi({
          description: "As `users`, with `userMonthlyCostBudget`.",
        }),
      })
      .openapi({ description: "Budgets of money." }),
  })
  .openapi("Budgets");
export type Budgets = z.infer<typeof Budgets>;
