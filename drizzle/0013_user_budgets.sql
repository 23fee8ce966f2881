CREATE TABLE "user_budget_periods" (
	"agent_id" uuid NOT NULL,
	"subject" text NOT NULL,
	"month" date NOT NULL,
	"used" bigint DEFAULT 0 NOT NULL,
	"reserved" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "user_budget_periods_agent_id_subject_month_pk" PRIMARY KEY("agent_id","subject","month")
);
--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "user_monthly_token_budget" bigint;--> statement-breakpoint
ALTER TABLE "turns" ADD COLUMN "user_reserved" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "user_budget_periods" ADD CONSTRAINT "user_budget_periods_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;