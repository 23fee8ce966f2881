-- The statements that open and end a turn hold the first five together. The foreign keys lock the last two.
LOCK TABLE "agents", "conversations", "turns", "budget_periods", "user_budget_periods", "budget_holds", "usage_daily", "user_usage_daily", "workspaces", "organizations" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
CREATE TABLE "model_prices" (
	"organization_id" uuid NOT NULL,
	"provider" text NOT NULL,
	"model" text NOT NULL,
	"input" bigint NOT NULL,
	"cached_input" bigint,
	"cache_write" bigint,
	"output" bigint NOT NULL,
	"currency" text NOT NULL,
	CONSTRAINT "model_prices_organization_id_provider_model_pk" PRIMARY KEY("organization_id","provider","model")
);
--> statement-breakpoint
CREATE TABLE "provider_bindings" (
	"agent_id" uuid NOT NULL,
	"role" text NOT NULL,
	"connection_id" uuid NOT NULL,
	"model" text,
	"fallbacks" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_by" uuid,
	"updated_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "provider_bindings_agent_id_role_pk" PRIMARY KEY("agent_id","role"),
	CONSTRAINT "provider_bindings_role" CHECK ("provider_bindings"."role" in ('chat', 'fast', 'embedding', 'transcription', 'speech'))
);
--> statement-breakpoint
CREATE TABLE "provider_connections" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"agent_id" uuid,
	"name" text NOT NULL,
	"provider" text NOT NULL,
	"base_url" text,
	"key_id" text,
	"ciphertext" "bytea",
	"enabled" boolean DEFAULT true NOT NULL,
	"is_default" boolean DEFAULT false NOT NULL,
	"created_by" uuid,
	"updated_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "provider_connections_provider" CHECK ("provider_connections"."provider" in ('openai', 'anthropic', 'google', 'mistral', 'ollama', 'openai-compatible', 'demo', 'deepgram', 'elevenlabs')),
	CONSTRAINT "provider_connections_shared_default" CHECK (not "provider_connections"."is_default" or "provider_connections"."agent_id" is null),
	CONSTRAINT "provider_connections_sealed" CHECK (("provider_connections"."key_id" is null) = ("provider_connections"."ciphertext" is null))
);
--> statement-breakpoint
CREATE TABLE "workspace_providers" (
	"workspace_id" uuid PRIMARY KEY NOT NULL,
	"admitted" jsonb,
	"private_connections" boolean DEFAULT true NOT NULL,
	"updated_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "monthly_cost_budget" bigint;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "user_monthly_cost_budget" bigint;--> statement-breakpoint
ALTER TABLE "budget_holds" ADD COLUMN "cost" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "budget_periods" ADD COLUMN "cost_used" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "budget_periods" ADD COLUMN "cost_reserved" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "user_budget_periods" ADD COLUMN "cost_used" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "user_budget_periods" ADD COLUMN "cost_reserved" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "turns" ADD COLUMN "cost_micros" bigint;--> statement-breakpoint
ALTER TABLE "turns" ADD COLUMN "cost_reserved" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "turns" ADD COLUMN "user_cost_reserved" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_daily" ADD COLUMN "cost_micros" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_daily" ADD COLUMN "priced" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "user_usage_daily" ADD COLUMN "cost_micros" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "user_usage_daily" ADD COLUMN "priced" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "model_prices" ADD CONSTRAINT "model_prices_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_bindings" ADD CONSTRAINT "provider_bindings_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_bindings" ADD CONSTRAINT "provider_bindings_connection_id_provider_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."provider_connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_connections" ADD CONSTRAINT "provider_connections_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_connections" ADD CONSTRAINT "provider_connections_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspace_providers" ADD CONSTRAINT "workspace_providers_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "provider_bindings_connection" ON "provider_bindings" USING btree ("connection_id");--> statement-breakpoint
CREATE UNIQUE INDEX "provider_connections_shared_name" ON "provider_connections" USING btree ("organization_id","name") WHERE "provider_connections"."agent_id" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "provider_connections_private_name" ON "provider_connections" USING btree ("agent_id","name") WHERE "provider_connections"."agent_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "provider_connections_default" ON "provider_connections" USING btree ("organization_id") WHERE "provider_connections"."is_default";